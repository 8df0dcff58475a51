#!/usr/bin/env python3
"""The rules of the house, read from the sources: who includes whom, lengths, names, tests that run, paths in the docs.

Usage: house_test.py ROOT [--build BUILD]   (ROOT: the repository; BUILD: a build tree whose ctest list is compared)
"""

import argparse
import itertools
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import code_shape

ROOT = pathlib.Path(".")
BUILD = None

# Upstream first: a room includes itself and what stands before it.
CORE_ROOMS = ["base", "memory", "algebra", "r1cs", "groth16", "circuit", "filecoin", "prover", "store", "engine"]
# Rooms inside rooms, upstream first; "" is the files of the room itself. A file includes its own folder and those before.
INNER_ROOMS = {
    "core/base": ["", "settings", "metrics"],
    "core/algebra": ["simd", "field", "curve", "msm", "ntt"],
    "core/circuit": ["values", "poseidon", "sha256", ""],
    "core/filecoin": ["types", "format", "", "samples"],
    "core/prover": ["device", "parameters", "cpu"],
    "core/engine": ["jobs", "schedule", "state", "reports", "stages", ""],
    "gpu": ["runtime", "field", "ntt", "msm", "params", "prover"],
    "daemon": ["common", "sockets", "devices", "settings", "ingress", "grpc", "http", "app", "ctl"],
    "daemon/app": ["process", "watch", "cards", "parameters", ""],
    "daemon/ctl": ["output", "connection", "doctor", "top", ""],
}
# Pairs that stand side by side: neither includes the other, whatever their order.
STRANGERS = [("core/algebra", "msm", "ntt"), ("core/circuit", "poseidon", "sha256"), ("gpu", "ntt", "msm"),
             ("core/base", "settings", "metrics"), ("core/prover", "parameters", "cpu"),
             ("daemon", "sockets", "devices"), ("daemon", "grpc", "http"), ("daemon", "ingress", "http"),
             ("daemon", "settings", "ingress"), ("daemon", "grpc", "ctl"), ("daemon", "http", "ctl"),
             ("daemon", "app", "ctl"),
             *(("daemon/app", a, b) for a, b in itertools.combinations(INNER_ROOMS["daemon/app"][:-1], 2)),
             ("daemon/ctl", "output", "connection"), ("daemon/ctl", "output", "doctor"), ("daemon/ctl", "doctor", "top")]
SOURCE_SUFFIXES = {".cc", ".h", ".cu", ".cuh", ".inc"}
FORBIDDEN_NAME = re.compile(r"(^|[_.\-])(utils?|helpers?|new|fast|phase\d*)($|[_.\-])")
# Names that this project has no place for: machines it was written on, and what is written instead of work.
FORBIDDEN_TEXT = re.compile(r"/work/|/home/[a-z]|\.\./shared|\b(TODO|FIXME|XXX)\b")
MAX_LINES = 400
# Of a function's body, and member functions of a class, in core, daemon and gpu.
MAX_FUNCTION_LINES = 60
MAX_MEMBER_FUNCTIONS = 25
# What is longer, by file and name; an entry that is no longer needed fails the test as well. The function is to be taken
# apart. The classes are numbers: a third of their members are the operators and constants that every field has, and the
# law suites of fields hold all of them equal.
LONG_FUNCTIONS = {("gpu/ntt/passes.cuh", "Pass")}
LARGE_CLASSES = {("core/algebra/field/field.h", "MontField"), ("core/algebra/field/fp_lanes.h", "FpX8")}
# Sources of one folder; beyond that it has rooms inside.
MAX_FILES = 25
# Folders that have more, and how many they may have: pairs of one file each about its own subject (base), the files of a
# circuit (circuit), and one class with what it is made of (gpu/prover).
CROWDED = {"core/base": 28, "core/circuit": 28, "gpu/prover": 30}


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


def inner(room, path):
    """The room inside `room` that a root-relative path is in ("": the room's own files); None if it is not in `room`."""
    if not path.startswith(room + "/"):
        return None
    folders = path[len(room) + 1:].split("/")[:-1]
    return folders[0] if folders else ""


def allowed_inside(from_path, to_path):
    """The same for two files of one room that has rooms inside, at every level."""
    for room, order in INNER_ROOMS.items():
        from_inner, to_inner = inner(room, from_path), inner(room, to_path)
        if None in (from_inner, to_inner) or from_inner == to_inner:
            continue
        if from_inner not in order or to_inner not in order or order.index(to_inner) > order.index(from_inner):
            return False
        if (room, to_inner, from_inner) in STRANGERS:
            return False
    return True


def allowed(from_path, to_path):
    """Whether a file at from_path may include to_path, both relative to the root."""
    (top, room), (to_top, to_room) = place(from_path), place(to_path)
    if top == "tests":
        return True
    if to_top == "tests":
        return False
    if not allowed_inside(from_path, to_path):
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
        self.assertTrue(allowed("daemon/app/a.cc", "gpu/b.h"))

    def test_the_arrows_of_rooms_inside_rooms(self):
        """The rule itself refuses what it should."""
        self.assertTrue(allowed("core/algebra/msm/a.cc", "core/algebra/field/b.h"))
        self.assertFalse(allowed("core/algebra/field/a.h", "core/algebra/curve/b.h"))
        self.assertFalse(allowed("core/algebra/ntt/a.cc", "core/algebra/msm/b.h"))
        self.assertTrue(allowed("core/filecoin/a.cc", "core/filecoin/format/b.h"))
        self.assertFalse(allowed("core/filecoin/a.cc", "core/filecoin/samples/b.h"))
        self.assertFalse(allowed("core/filecoin/format/a.cc", "core/filecoin/b.h"))
        self.assertFalse(allowed("daemon/http/a.cc", "daemon/grpc/b.h"))
        self.assertFalse(allowed("daemon/common/a.cc", "daemon/app/b.h"))
        self.assertFalse(allowed("daemon/ctl/a.cc", "daemon/app/b.h"))
        self.assertFalse(allowed("core/base/a.cc", "core/base/settings/b.h"))
        self.assertTrue(allowed("core/engine/a.cc", "core/engine/stages/b.h"))
        self.assertFalse(allowed("core/engine/jobs/a.h", "core/engine/schedule/b.h"))
        self.assertFalse(allowed("core/prover/cpu/a.cc", "core/prover/parameters/b.h"))
        self.assertTrue(allowed("daemon/ctl/a.cc", "daemon/ctl/doctor/b.h"))
        self.assertFalse(allowed("daemon/ctl/doctor/a.cc", "daemon/ctl/b.h"))
        self.assertFalse(allowed("daemon/ctl/top/a.cc", "daemon/ctl/doctor/b.h"))
        self.assertFalse(allowed("daemon/app/watch/a.cc", "daemon/app/process/b.h"))
        self.assertFalse(allowed("daemon/ctl/top/a.cc", "daemon/http/b.h"))
        self.assertTrue(allowed("daemon/ctl/a.cc", "core/algebra/field/b.h"))

    def test_gRPC_internals_are_named_in_one_folder(self):
        wrong = [relative(p) for p in sources()
                 if re.search(r"\bgrpc::internal\b", p.read_text(errors="replace"))
                 and not relative(p).startswith("daemon/grpc/internal/")]
        self.assertEqual(wrong, [])

    def test_every_mutex_is_one_that_the_compiler_checks(self):
        """Clang's thread-safety analysis does not see the locks of the standard library. gpu is not analysed."""
        plain = re.compile(r"\bstd::(?:\w*mutex|lock_guard|unique_lock|scoped_lock|shared_lock|condition_variable\w*)\b")
        wrong = [f"{relative(p)}:{number}: {found.group(0)}" for p in sources()
                 if relative(p).startswith(("core/", "daemon/")) and relative(p) != "core/base/mutex.h"
                 for number, line in enumerate(p.read_text(errors="replace").splitlines(), 1)
                 for found in [plain.search(line.split("//")[0])] if found]
        self.assertEqual(wrong, [])

    def test_folders_are_rooms(self):
        crowded = {}
        for path in sources():
            if not relative(path).startswith("tests/"):
                folder = relative(path.parent)
                crowded[folder] = crowded.get(folder, 0) + 1
        self.assertEqual([f"{p}: {n} files" for p, n in crowded.items() if n > CROWDED.get(p, MAX_FILES)], [])

    def test_rooms_are_those_of_the_design(self):
        found = {place(relative(p))[1] for p in sources() if relative(p).startswith("core/")}
        self.assertEqual(found - set(CORE_ROOMS), set())

    def test_cmake_has_the_same_arrows(self):
        """Every room, and every room inside one, links none that its files may not include."""
        rooms = {}
        for path in tracked_files():
            if path.name == "CMakeLists.txt" and not relative(path).startswith("tests/"):
                for call in re.findall(r"cuzk_room\(((?:core/|gpu|daemon)[\w/]*)([^)]*)\)", path.read_text()):
                    rooms[re.sub(r"^core/", "", call[0]).replace("/", "_")] = call
        self.assertGreater(len(rooms), 20)
        wrong = []
        for folder, text in rooms.values():
            for used in re.findall(r"cuzk::(\w+)", text):
                target = rooms.get(used, (None,))[0]
                if used in CORE_ROOMS or used in ("gpu", "proto"):
                    target = target or ("core/" + used if used in CORE_ROOMS else used)
                if target is None:
                    wrong.append(f"{folder}: links cuzk::{used}, which is no room")
                elif folder == target or not allowed(folder + "/a.cc", target + "/b.h"):
                    wrong.append(f"{folder}: links cuzk::{used}")
        self.assertEqual(wrong, [])

    def test_files_are_short(self):
        long = []
        for path in sources() + [p for p in tracked_files() if p.suffix == ".py"]:
            lines = len(path.read_text(errors="replace").splitlines())
            if lines > MAX_LINES:
                long.append(f"{relative(path)}: {lines} lines")
        self.assertEqual(long, [])

    def test_functions_and_classes_are_small(self):
        long, large = set(), set()
        for path in sources():
            if relative(path).split("/")[0] not in ("core", "daemon", "gpu"):
                continue
            shape = code_shape.Shape(path.read_text(errors="replace"))
            long |= {(relative(path), name) for _, name, _ in code_shape.longest(shape, MAX_FUNCTION_LINES)}
            large |= {(relative(path), name) for _, name, _ in code_shape.largest(shape, MAX_MEMBER_FUNCTIONS)}
        self.assertEqual(long, LONG_FUNCTIONS, f"functions of more than {MAX_FUNCTION_LINES} lines")
        self.assertEqual(large, LARGE_CLASSES, f"classes of more than {MAX_MEMBER_FUNCTIONS} member functions")

    def test_the_shape_of_code_is_seen(self):
        """The rule itself refuses what it should."""
        body = "\n".join(f"  total += {i};" for i in range(59))
        shape = code_shape.Shape(f"namespace a {{\nint Sum(int total) {{\n{body}\n}}\n}}  // namespace a\n")
        self.assertEqual(shape.functions, [(2, "Sum", 61)])
        self.assertEqual(code_shape.longest(shape, 60), [(2, "Sum", 61)])
        shape = code_shape.Shape("""
            template <class T>
            class ABSL_LOCKABLE Box final : public Base<T> {
             public:
              Box() : value_{1} {}                       // one
              Box(const Box&) = delete;
              int Get() const ABSL_GUARDED_BY(mutex_) { return value_; }
              void Set(std::function<void(int)> call, int value = Next(1));
             private:
              struct Inner { int a = 0; };
              std::function<void(int)> call_ ABSL_GUARDED_BY(mutex_);
              std::map<int, std::pair<int, int>> map_ = Make(3);
              int value_ ABSL_GUARDED_BY(mutex_){};
            };""")
        self.assertEqual(shape.classes, [(10, "Inner", []), (3, "Box", ["Box", "Get", "Set"])])

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
            # The list of the folder itself or of the nearest one around it; a python test may be named without its end.
            folder = next(p for p in path.parents if p in lists)
            name = re.escape(path.name) if path.suffix != ".py" else re.escape(path.stem) + r"(\.py)?"
            if not re.search(r"(?<![\w.])" + name + r"\b", lists[folder]):
                wrong.append(f"{relative(path)}: not named in its folder's CMake files")
        self.assertEqual(wrong, [])

    def test_every_setting_is_read(self):
        """A row of the table that no code reads promises what is not there."""
        table = ROOT / "core/base/settings/settings_table.cc"
        names = re.findall(r'^\s*\{"([a-z_.]+)", k', table.read_text(), re.M)
        self.assertGreater(len(names), 30)
        text = "\n".join(p.read_text(errors="replace") for p in sources()
                         if p != table and relative(p).startswith("daemon/"))
        reader = r'\b(?:Text|Bool|Integer|Duration|Mode|List|Size|SizeOf|Small|WholeSeconds)\((?:\w+, )?"%s"'
        unread = [name for name in names if not re.search(reader % re.escape(name), text)]
        self.assertEqual(unread, [])

    def test_every_metric_is_set(self):
        """So does a metric that no code sets: it would be absent, or 0 for ever."""
        table = ROOT / "core/base/metrics/metrics_table.cc"
        names = re.findall(r"^\s*\{(k\w+), k(?:Counter|Gauge|Histogram),", table.read_text(), re.M)
        self.assertGreater(len(names), 60)
        text = "\n".join(p.read_text(errors="replace") for p in sources()
                         if p != table and relative(p).startswith(("daemon/", "core/base/metrics/metrics.cc")))
        unset = [name for name in names if not re.search(r"\b%s\b" % name, text)]
        self.assertEqual(unset, [])

    def test_ctest_has_labels(self):
        if BUILD is None:
            self.skipTest("no build tree given")
        listing = subprocess.run(["ctest", "--show-only=json-v1"], cwd=BUILD, capture_output=True, check=True)
        import json
        wrong = []
        for test in json.loads(listing.stdout)["tests"]:
            labels = [p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"]
            known = {"unit", "large", "integration", "long", "fuzz", "device", "bench"}
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
