#!/usr/bin/env python3
"""The Debian package, looked at without installing it.

Usage: package_test.py BIN VECTORS PARAMETERS SOURCE FOLDER   (FOLDER: where cpack put the package)
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import daemon_fixture as fixture

SOURCE = FOLDER = None


def call(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def package_in(folder):
    """The newest package of the folder."""
    return max(folder.glob("cuzkd_*.deb"), key=lambda path: path.stat().st_mtime)


class Package(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="cuzk-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.package = package_in(FOLDER)
        cls.root, cls.control = cls.folder / "root", cls.folder / "control"
        call("dpkg-deb", "-x", cls.package, cls.root)
        call("dpkg-deb", "-e", cls.package, cls.control)

    def field(self, name):
        return call("dpkg-deb", "-f", self.package, name).strip()

    def test_what_it_is(self):
        self.assertEqual(self.field("Package"), "cuzkd")
        self.assertEqual(self.field("Architecture"), call("dpkg", "--print-architecture").strip())
        self.assertIn(self.field("Version"), call(fixture.BIN / "cuzkd", "--version"))
        self.assertEqual(self.package.name, f"cuzkd_{self.field('Version')}_{self.field('Architecture')}.deb")

    def test_it_depends_on_the_libraries_that_it_links(self):
        depends = self.field("Depends")
        for package in ("libc6", "libgrpc++", "libprotobuf", "libsqlite3-0", "libssl3", "libsystemd0", "systemd"):
            self.assertRegex(depends, rf"\b{re.escape(package)}")

    def test_it_says_once_what_it_is(self):
        summary, *rest = (line.strip() for line in self.field("Description").splitlines())
        self.assertTrue(summary)
        self.assertGreater(len(rest), 3)
        self.assertNotIn(summary, rest)

    def test_it_holds_these_files(self):
        found = {p.relative_to(self.root).as_posix() for p in self.root.rglob("*") if not p.is_dir()}
        documents = {f for f in found if f.startswith("usr/share/doc/cuzkd/")}
        self.assertEqual(found - documents, {
            "etc/cuzkd/cuzkd.toml", "usr/bin/cuzkctl", "usr/bin/cuzkd", "usr/lib/systemd/system/cuzkd.service",
            "usr/lib/sysusers.d/cuzkd.conf", "usr/lib/tmpfiles.d/cuzkd.conf", "usr/share/man/man1/cuzkctl.1.gz",
            "usr/share/man/man5/cuzkd.toml.5.gz", "usr/share/man/man8/cuzkd.8.gz", "usr/share/lintian/overrides/cuzkd"})
        for name in ("copyright", "changelog.gz", "OPERATIONS.md", "examples/haproxy.cfg"):
            self.assertIn(f"usr/share/doc/cuzkd/{name}", documents)
        # Everything of config/ that is no setting is an example.
        for path in (SOURCE / "config").rglob("*"):
            if path.is_file() and path.name != "cuzkd.toml":
                self.assertIn(f"usr/share/doc/cuzkd/examples/{path.relative_to(SOURCE / 'config')}", documents)

    def test_owners_and_modes(self):
        for line in call("dpkg-deb", "-c", self.package).splitlines():
            mode, owner, *_, name = line.split()
            self.assertEqual(owner, "root/root", line)
            program = name.startswith("./usr/bin/") or mode.startswith("d")
            self.assertEqual(mode[1:], "rwxr-xr-x" if program else "rw-r--r--", line)

    def test_the_settings_are_the_operators(self):
        self.assertEqual((self.control / "conffiles").read_text().split(), ["/etc/cuzkd/cuzkd.toml"])
        checked = fixture.run(self.root / "usr/bin/cuzkd", "--check-config", "--config",
                              self.root / "etc/cuzkd/cuzkd.toml")
        self.assertEqual(checked.code, 0, checked)

    def test_the_programs_run_from_where_they_are(self):
        for name in ("cuzkd", "cuzkctl"):
            self.assertEqual(fixture.run(self.root / "usr/bin" / name, "--version").code, 0)
            dynamic = call("readelf", "-d", self.root / "usr/bin" / name)
            self.assertNotRegex(dynamic, r"R(UN)?PATH")

    def test_the_pages_are_those_of_the_programs(self):
        pages = {"man8/cuzkd.8.gz": ("cuzkd", "--print-man", "cuzkd"),
                 "man5/cuzkd.toml.5.gz": ("cuzkd", "--print-man", "cuzkd.toml"),
                 "man1/cuzkctl.1.gz": ("cuzkctl", "--print-man")}
        for path, (program, *arguments) in pages.items():
            packed = call("gzip", "-dc", self.root / "usr/share/man" / path)
            self.assertEqual(packed, fixture.run(self.root / "usr/bin" / program, *arguments).out)

    def test_user_and_folders_can_be_made(self):
        call("systemd-sysusers", f"--root={self.root}", "cuzkd.conf")
        self.assertIn("cuzkd:", (self.root / "etc/passwd").read_text())
        call("systemd-tmpfiles", f"--root={self.root}", "--create", "cuzkd.conf")

    def test_the_scripts_of_the_package(self):
        for name in ("postinst", "prerm", "postrm"):
            call("sh", "-n", self.control / name)
            text = (self.control / name).read_text()
            self.assertIn("set -e", text)
            # Debian's order for unknown words: nothing happens.
            call("sh", self.control / name, "unknown-word")


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    SOURCE, FOLDER = pathlib.Path(sys.argv[4]), pathlib.Path(sys.argv[5])
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]], verbosity=2)
