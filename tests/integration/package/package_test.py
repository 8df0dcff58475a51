#!/usr/bin/env python3
"""The Debian package and the tarball, looked at without installing them on this machine.

Usage: package_test.py BIN VECTORS PARAMETERS SOURCE FOLDER   (FOLDER: where cpack put them)
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import daemon_fixture as fixture
import linked

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

    def test_it_depends_on_nothing_that_differs_between_distributions(self):
        self.assertEqual(self.field("Depends"), "libc6 (>= 2.34), systemd (>= 249)")

    def test_the_programs_need_glibc_alone_and_no_late_one(self):
        for name in ("cuzkd", "cuzkctl"):
            program = self.root / "usr/bin" / name
            self.assertEqual(linked.foreign_libraries(program), [])
            self.assertEqual(linked.later_symbols(program), [])

    def test_a_program_that_links_the_distribution_would_be_found(self):
        stranger = pathlib.Path(shutil.which("cmake"))
        self.assertIn("libstdc++.so.6", linked.foreign_libraries(stranger))
        self.assertTrue(any(name.endswith(("GLIBCXX_3.4", "CXXABI_1.3")) for name in linked.later_symbols(stranger)))
        library = re.search(r"libstdc\+\+\.so\.6 => (\S+)", call("ldd", stranger))[1]
        self.assertIn("arc4random@GLIBC_2.36", linked.later_symbols(library))

    def test_the_licences_of_what_is_linked_are_there(self):
        folder = self.root / "usr/share/doc/cuzkd/licences"
        words = {"libgrpc-dev": "Apache", "libprotobuf-dev": "BSD", "libabsl-dev": "Apache", "libssl-dev": "Apache",
                 "libsqlite3-dev": "public", "libspdlog-dev": "Expat|MIT", "libfmt-dev": "MIT|Expat", "zlib1g-dev": "zlib",
                 "libre2-dev": "BSD", "libc-ares-dev": "MIT|Expat", "liblzma-dev": "PD|public", "libc6-dev": "LGPL",
                 "libcli11-dev": "BSD", "libtomlplusplus-dev": "MIT|Expat", "prometheus-cpp": "Expat|MIT"}
        found = {path.name: path.read_text() for path in folder.iterdir()}
        for package, licence in words.items():
            self.assertRegex(found.get(package, "is missing"), licence, package)
        self.assertTrue([name for name in found if re.fullmatch(r"libstdc\+\+-\d+-dev", name)], found.keys())
        self.assertTrue([name for name in found if "simdjson" in name], found.keys())
        self.assertFalse([name for name in found if re.search("gtest|gmock|benchmark", name)], "no program holds these")

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
            "usr/share/man/man5/cuzkd.toml.5.gz", "usr/share/man/man8/cuzkd.8.gz", "usr/share/lintian/overrides/cuzkd",
            "usr/share/bash-completion/completions/cuzkctl", "usr/share/bash-completion/completions/cuzkd",
            "usr/share/zsh/vendor-completions/_cuzkctl", "usr/share/zsh/vendor-completions/_cuzkd"})
        for name in ("copyright", "changelog.gz", "CHANGELOG.md", "UPGRADE.md", "INSTALL.md", "CURIO.md",
                     "RUNNING.md", "TROUBLESHOOTING.md", "METRICS.md", "PERFORMANCE.md", "examples/haproxy.cfg"):
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


class Tarball(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="cuzk-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        version = call("dpkg-deb", "-f", package_in(FOLDER), "Version").strip()
        name = f"cuzkd-{version}-linux-x86_64"
        call("tar", "-xzf", FOLDER / f"{name}.tar.gz", "-C", cls.folder)
        cls.unpacked = cls.folder / name

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="root-", dir=self.folder))

    def install(self, *options):
        return call(self.unpacked / "install.sh", "--root", self.root, *options)

    def installed(self):
        return {p.relative_to(self.root).as_posix() for p in self.root.rglob("*") if not p.is_dir()}

    def test_it_holds_what_the_package_holds(self):
        call("dpkg-deb", "-x", package_in(FOLDER), self.root)
        ours = {p.relative_to(self.unpacked).as_posix() for p in self.unpacked.rglob("*") if not p.is_dir()}
        self.assertEqual(ours ^ self.installed(), {"install.sh", "LICENSE", "LICENSE-APACHE", "LICENSE-MIT",
                                                    "usr/share/lintian/overrides/cuzkd"})

    def test_it_installs_below_a_prefix_and_goes_again(self):
        self.install("--prefix", "/opt/cuzk")
        for name in ("opt/cuzk/bin/cuzkd", "opt/cuzk/bin/cuzkctl", "opt/cuzk/share/man/man8/cuzkd.8.gz",
                     "etc/sysusers.d/cuzkd.conf", "etc/tmpfiles.d/cuzkd.conf", "etc/cuzkd/cuzkd.toml"):
            self.assertIn(name, self.installed())
        unit = (self.root / "etc/systemd/system/cuzkd.service").read_text()
        self.assertIn("\nExecStart=/opt/cuzk/bin/cuzkd\n", unit)
        self.assertEqual(fixture.run(self.root / "opt/cuzk/bin/cuzkd", "--version").code, 0)
        self.install("--remove", "--prefix", "/opt/cuzk")
        self.assertEqual(self.installed(), {"etc/cuzkd/cuzkd.toml"})

    def test_settings_of_the_operator_stay(self):
        self.install()
        settings = self.root / "etc/cuzkd/cuzkd.toml"
        original = settings.read_text()
        settings.write_text(original + '[log]\nformat = "json"\n')
        said = self.install()
        self.assertIn("cuzkd.toml.new", said)
        self.assertIn('format = "json"', settings.read_text())
        self.assertEqual((self.root / "etc/cuzkd/cuzkd.toml.new").read_text(), original)

    def test_what_is_wrong_on_its_command_line_is_refused(self):
        for options in (["--prefx", "/usr"], ["--prefix", "usr/local"], ["--prefix"]):
            done = subprocess.run([self.unpacked / "install.sh", *options], capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0, options)
            self.assertEqual(self.installed(), set())


class Installed(unittest.TestCase):
    """`cmake --install`, without a package."""

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="cuzk-test-"))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)

    def install(self, prefix):
        call("cmake", "--install", fixture.BIN.parent, "--prefix", prefix, env={**os.environ, "DESTDIR": str(self.root)})

    def unit(self, prefix):
        return (self.root / prefix[1:] / "lib/systemd/system/cuzkd.service").read_text()

    def test_below_usr_local_the_settings_are_in_etc(self):
        self.install("/usr/local")
        self.assertIn("\nExecStart=/usr/local/bin/cuzkd\n", self.unit("/usr/local"))
        self.assertTrue((self.root / "etc/cuzkd/cuzkd.toml").is_file())
        self.assertEqual(fixture.run(self.root / "usr/local/bin/cuzkctl", "--version").code, 0)
        self.assertTrue((self.root / "usr/local/share/man/man1/cuzkctl.1.gz").is_file())

    def test_another_prefix_holds_everything(self):
        self.install("/opt/cuzk")
        self.assertEqual([p.name for p in self.root.iterdir()], ["opt"])
        self.assertIn("\nExecStart=/opt/cuzk/bin/cuzkd --config /opt/cuzk/etc/cuzkd/cuzkd.toml\n", self.unit("/opt/cuzk"))

    def test_settings_that_are_there_stay(self):
        self.install("/usr")
        settings = self.root / "etc/cuzkd/cuzkd.toml"
        settings.write_text("# the operator's\n")
        self.install("/usr")
        self.assertEqual(settings.read_text(), "# the operator's\n")


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    SOURCE, FOLDER = pathlib.Path(sys.argv[4]), pathlib.Path(sys.argv[5])
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]], verbosity=2)
