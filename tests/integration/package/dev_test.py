#!/usr/bin/env python3
"""`./dev` on machines of other distributions: what it would install, with a double of apt-get, and where it gives up. The
version that a build takes from the tag.

Usage: dev_test.py BIN VECTORS PARAMETERS SOURCE
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = None
PURPOSES = {"build", "test", "pack", "check", "format"}
# A machine with nothing on it: dpkg knows no package, and apt-get writes down what it is asked for.
DOUBLES = {"dpkg-query": "#!/bin/sh\nexit 1\n", "apt-get": '#!/bin/sh\necho "$*" >> "$ASKED"\n', "sudo": '#!/bin/sh\nexec "$@"\n',
           "cmake": "#!/bin/sh\necho no compiler here\nexit 9\n"}


def table():
    lines = [line for line in (SOURCE / "cmake/packages.txt").read_text().splitlines() if not line.startswith("#")]
    cells = [[cell.strip() for cell in line.split("|")] for line in lines]
    return cells[0], cells[1:]


class Table(unittest.TestCase):

    def test_every_row_names_a_package_for_each_distribution(self):
        columns, rows = table()
        self.assertEqual(columns[:4], ["for", "what it is", "command", "debian-12"])
        for distribution in ("debian-13", "ubuntu-22.04", "ubuntu-24.04"):
            self.assertIn(distribution, columns)
        for row in rows:
            self.assertEqual(len(row), len(columns), row)
            self.assertIn(row[0], PURPOSES)
            self.assertRegex(row[3], r"^[a-z0-9.+-]+$", row)
            for cell in row[4:]:
                self.assertRegex(cell, r"^(=|-|![A-Za-z].+|[a-z0-9][a-z0-9.+-]+)$", row)

    def test_it_is_the_only_place_with_names_of_packages(self):
        for path in ("dev", ".ci/run"):
            text = (SOURCE / path).read_text()
            for row in table()[1]:
                if row[3].endswith("-dev"):
                    self.assertNotRegex(text, rf"\b{re.escape(row[3])}\b", path)


class Distributions(unittest.TestCase):

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cuzk-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.clone = self.folder / "clone"
        (self.clone / "cmake").mkdir(parents=True)
        for name in ("dev", "cmake/packages.txt"):
            shutil.copy(SOURCE / name, self.clone / name)
        (self.folder / "bin").mkdir()
        for name, text in DOUBLES.items():
            (self.folder / "bin" / name).write_text(text)
            (self.folder / "bin" / name).chmod(0o755)

    def dev(self, release, *arguments, **environment):
        (self.folder / "os-release").write_text(release)
        asked = self.folder / "asked"
        asked.write_text("")
        done = subprocess.run([self.clone / "dev", *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              env={**os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
                                   "OS_RELEASE": str(self.folder / "os-release"), "ASKED": str(asked), **environment})
        return done.returncode, done.stdout + done.stderr, asked.read_text()

    def test_known_ones_install_what_the_programs_need_and_no_more(self):
        columns, rows = table()
        for identity in ('ID=debian\nVERSION_ID="12"\n', 'ID=debian\nVERSION_ID="13"\n', 'ID=ubuntu\nVERSION_ID="24.04"\n'):
            code, said, asked = self.dev(identity, "demo")
            self.assertEqual(code, 1, said)  # there is no compiler
            installed = re.search(r"(?m)^install .*--no-install-recommends (.*)$", asked)[1].split()
            self.assertEqual(sorted(installed), sorted(row[3] for row in rows if row[0] == "build"), said)
            # What it will do comes before it does it.
            before = said[:said.index("== installing")]
            for word in ("installs:", "libgrpc++-dev", "builds:", "makes:", "min"):
                self.assertIn(word, before)

    def test_one_that_cannot_build_says_why_and_installs_nothing(self):
        code, said, asked = self.dev('ID=ubuntu\nVERSION_ID="22.04"\n', "build")
        self.assertEqual((code, asked), (1, ""), said)
        self.assertIn("ubuntu-22.04", said)
        self.assertIn("3.25 is needed", said)
        self.assertIn("The package", said)

    def test_an_unknown_one_gets_the_list_and_goes_on_when_it_is_told(self):
        for identity in ("ID=gentoo\n", "ID=fedora\nVERSION_ID=44\n", ""):
            code, said, asked = self.dev(identity, "build")
            self.assertEqual((code, asked), (1, ""), said)
            for row in table()[1]:
                (self.assertIn if row[0] == "build" else self.assertNotIn)(f"  {row[1]} (in Debian: {row[3]})", said)
            code, said, asked = self.dev(identity, "build", CUZK_INSTALLED="1")
            self.assertEqual((code, asked), (1, ""), said)
            self.assertIn("no compiler here", said)


class Version(unittest.TestCase):

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cuzk-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        (self.folder / "CHANGELOG.md").write_text("# Changes\n\n## 0.9.1 (not yet released)\n\n## 0.9.0\n")

    def git(self, *arguments):
        who = ["-c", "user.name=test", "-c", "user.email=test@cuzkd.example"]
        return subprocess.run(["git", "-C", self.folder, *who, *arguments], capture_output=True, text=True, check=True).stdout

    def version(self):
        (self.folder / "print.cmake").write_text(f'include("{SOURCE}/cmake/Version.cmake")\n'
                                                 'message("${CUZK_VERSION} ${CUZK_RELEASE} ${CUZK_REVISION}")\n')
        # Not the repository that the folder may be below.
        environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(self.folder.parent)}
        done = subprocess.run(["cmake", "-P", "print.cmake"], cwd=self.folder, capture_output=True, text=True, env=environment)
        return done.stderr.split() if done.returncode == 0 else done.stderr

    def test_it_is_that_of_the_tag_with_the_commits_since(self):
        self.git("init", "-q")
        self.git("add", "CHANGELOG.md")
        self.git("commit", "-qm", "first")
        self.assertEqual(self.version()[:2], ["0.9.1", "0.9.1"])
        self.git("tag", "v1.2.3")
        revision = self.git("rev-parse", "--short=12", "HEAD").strip()
        self.assertEqual(self.version(), ["1.2.3", "1.2.3", revision])
        self.git("commit", "-q", "--allow-empty", "-m", "second")
        revision = self.git("rev-parse", "--short=12", "HEAD").strip()
        self.assertEqual(self.version(), [f"1.2.3+1.g{revision[:7]}", "1.2.3", revision])

    def test_sources_without_git_have_that_of_the_changes(self):
        self.assertEqual(self.version(), ["0.9.1", "0.9.1", "unknown"])
        (self.folder / "CHANGELOG.md").write_text("# Changes\n")
        self.assertIn("CHANGELOG.md has no heading with a version", self.version())


if __name__ == "__main__":
    SOURCE = pathlib.Path(sys.argv[4])
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
