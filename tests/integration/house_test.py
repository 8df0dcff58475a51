#!/usr/bin/env python3
"""The rules of the house, read from the sources: who includes whom, lengths, names, tests that run, paths in the docs.

Usage: house_test.py ROOT [--build BUILD]   (ROOT: the repository; BUILD: a build tree whose ctest list is compared)
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(".")
BUILD = None

# Upstream first: a room includes itself and what stands before it.
CORE_ROOMS = ["base", "memory", "algebra", "r1cs", "groth16", "circuit", "filecoin", "prover", "engine"]
SOURCE_SUFFIXES = {".cc", ".h", ".cu", ".cuh", ".inc"}
FORBIDDEN_NAME = re.compile(r"(^|[_.\-])(utils?|helpers?|new|fast|phase\d*)($|[_.\-])")
# Names that this project has no place for: machines it was written on, and what is written instead of work.
FORBIDDEN_TEXT = re.compile(r"/work/|/home/[a-z]|\.\./shared|\b(TODO|FIXME|XXX)\b")
MAX_LINES = 400


def tracked_files():
    """Files under version control, or every file when ROOT is an exported tree or there is no git."""
    if shutil.which("git"):
        listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True)
        if listed.returncode == 0 and listed.stdout:
            names = listed.stdout.decode().split("\0")
            return [ROOT / name for name in names if name and (ROOT / name).is_file()]
    return [p for p in ROOT.rglob("*") if p.is_file() and not {"build", ".git"} & set(p.relative_to(ROOT).parts)]


def relative(path):
    return path.relative_to(ROOT).as_posix()


def sources():
    return [p for p in tracked_files() if p.suffix in SOURCE_SUFFIXES]


def place(path):
    """(top, room) of a root-relative path: ("core", "algebra"), ("gpu", ""), ("tests", "")."""
    parts = path.split("/")
    if parts[0] == "core":
        return "core", parts[1] if len(parts) > 2 else ""
    return parts[0], ""


def allowed(from_path, to_path):
    """Whether a file at from_path may include to_path, both relative to the root."""
    (top, room), (to_top, to_room) = place(from_path), place(to_path)
    if top == "tests":
        return True
    if to_top == "tests":
        return False
    if top == "core":
        return to_top == "core" and to_room in CORE_ROOMS and CORE_ROOMS.index(to_room) <= CORE_ROOMS.index(room)
    if top == "gpu":
        return to_top in ("gpu", "core")
    if top == "daemon":
        return to_top in ("daemon", "gpu", "core", "proto", "cuzk", "cuzkd")
    return False


def includes(path):
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if match:
            yield number, match.group(1)


class House(unittest.TestCase):
    maxDiff = None

    def test_the_arrows_hold(self):
        wrong = []
        for path in sources():
            for number, target in includes(path):
                top = target.split("/")[0]
                if top in ("core", "gpu", "daemon", "proto", "tests", "cuzk", "cuzkd"):
                    if not allowed(relative(path), target):
                        wrong.append(f"{relative(path)}:{number}: must not include {target}")
                elif "/" not in target or target.startswith("."):
                    wrong.append(f"{relative(path)}:{number}: {target} is not relative to the root")
        self.assertEqual(wrong, [])

    def test_the_arrows_are_those_of_the_design(self):
        """The rule itself refuses what it should."""
        self.assertTrue(allowed("core/engine/a.cc", "core/base/b.h"))
        self.assertFalse(allowed("core/base/a.cc", "core/engine/b.h"))
        self.assertFalse(allowed("core/algebra/a.h", "core/r1cs/b.h"))
        self.assertFalse(allowed("core/engine/a.cc", "gpu/b.h"))
        self.assertFalse(allowed("gpu/a.cu", "daemon/b.h"))
        self.assertFalse(allowed("daemon/a.cc", "tests/fixtures.h"))
        self.assertTrue(allowed("daemon/a.cc", "gpu/b.h"))

    def test_rooms_are_those_of_the_design(self):
        found = {place(relative(p))[1] for p in sources() if relative(p).startswith("core/")}
        self.assertEqual(found - set(CORE_ROOMS), set())

    def test_cmake_has_the_same_arrows(self):
        wrong = []
        for path in tracked_files():
            match = re.fullmatch(r"core/(\w+)/CMakeLists\.txt", relative(path))
            if not match:
                continue
            for used in re.findall(r"cuzk::(\w+)", path.read_text()):
                if used in CORE_ROOMS and CORE_ROOMS.index(used) >= CORE_ROOMS.index(match.group(1)):
                    wrong.append(f"{relative(path)}: links cuzk::{used}")
                if used not in CORE_ROOMS:
                    wrong.append(f"{relative(path)}: links cuzk::{used}, which is no room of core")
        self.assertEqual(wrong, [])

    def test_files_are_short(self):
        long = []
        for path in sources() + [p for p in tracked_files() if p.suffix == ".py"]:
            lines = len(path.read_text(errors="replace").splitlines())
            if lines > MAX_LINES:
                long.append(f"{relative(path)}: {lines} lines")
        self.assertEqual(long, [])

    def test_names_say_something(self):
        wrong = [relative(p) for p in tracked_files() if FORBIDDEN_NAME.search(p.name.lower())]
        self.assertEqual(wrong, [])

    def test_no_machine_and_no_promise_is_named(self):
        wrong = []
        me = pathlib.Path(__file__).resolve()
        for path in tracked_files():
            if path.resolve() == me or relative(path).startswith("tests/vectors/"):
                continue
            try:
                text = path.read_text()
            except UnicodeDecodeError:
                continue
            for number, line in enumerate(text.splitlines(), 1):
                found = FORBIDDEN_TEXT.search(line)
                # The one place that names where the full ground truth may stand.
                if found and not (relative(path) == "CMakeLists.txt" and "CUZK_FIXTURES" in line):
                    wrong.append(f"{relative(path)}:{number}: {found.group(0)}")
        self.assertEqual(wrong, [])

    def test_every_test_source_is_built_and_run(self):
        lists = {}
        for path in tracked_files():
            if (path.name == "CMakeLists.txt" or path.suffix == ".cmake") and relative(path).startswith("tests/"):
                # A fuzz target is named without the end of its file's name.
                text = re.sub(r"(?<=cuzk_fuzz\()(\w+)", r"\1_fuzz.cc", path.read_text())
                lists[path.parent] = lists.get(path.parent, "") + text
        wrong = []
        for path in tracked_files():
            if not relative(path).startswith("tests/") or relative(path).startswith("tests/vectors/"):
                continue
            if not re.search(r"_(test|bench|fuzz)\.(cc|cu|py|mjs|sh)$", path.name):
                continue
            text = lists.get(path.parent, "")
            if not re.search(r"(?<![\w.])" + re.escape(path.name) + r"\b", text):
                wrong.append(f"{relative(path)}: not named in its folder's CMake files")
        self.assertEqual(wrong, [])

    def test_ctest_has_labels(self):
        if BUILD is None:
            self.skipTest("no build tree given")
        listing = subprocess.run(["ctest", "--show-only=json-v1"], cwd=BUILD, capture_output=True, check=True)
        import json
        wrong = []
        for test in json.loads(listing.stdout)["tests"]:
            labels = [p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"]
            known = {"unit", "reader", "integration", "long", "fuzz", "device", "bench"}
            if not labels or not set(labels[0]) & known:
                wrong.append(test["name"])
        self.assertEqual(wrong, [], "tests without a label never run")

    def test_docs_name_existing_paths(self):
        wrong = []
        tops = r"(?:core|gpu|daemon|proto|tests|docs|config|systemd|cmake)"
        for path in tracked_files():
            if path.suffix != ".md":
                continue
            text = path.read_text()
            named = set(re.findall(r"`(" + tops + r"/[\w./\-]*)`", text))
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
                if not (path.parent / target).exists():
                    wrong.append(f"{relative(path)}: link to {target}")
            for name in named:
                if not (ROOT / name).exists():
                    wrong.append(f"{relative(path)}: names {name}")
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path)
    arguments, rest = parser.parse_known_args()
    ROOT, BUILD = arguments.root.resolve(), arguments.build
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
