#!/usr/bin/env python3
"""The package on machines of their own: a minimal Debian 12 and a minimal Debian 13, made by debootstrap from the mirror
that /etc/apt names, whichever of them built it. It is installed, proves, is upgraded, removed and purged, and nothing of it
is left. Needs root and the mirror.

Usage: machine_test.py BIN VECTORS PARAMETERS FOLDER   (FOLDER: where cpack put the package)
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import daemon_fixture as fixture
import package_test as packing

FOLDER = None
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Settings stay as they are, without a question: those that a removal left, and this machine's own of apt.
KEEP = "-o Dpkg::Options::=--force-confold"
# Records what the scripts ask of systemd, and answers like a machine on which nothing runs.
RECORDER = """#!/bin/sh
echo "$(basename "$0") $*" >> /var/log/asked-of-systemd
case "$*" in *is-active*) test -e /run/cuzkd-is-active; exit ;; esac
"""


def mirror():
    """The first address of a Debian archive in /etc/apt."""
    suite = re.search(r"VERSION_CODENAME=(\w+)", pathlib.Path("/etc/os-release").read_text()).group(1)
    sources = [pathlib.Path("/etc/apt/sources.list"), *sorted(pathlib.Path("/etc/apt/sources.list.d").glob("*"))]
    for path in sources:
        if not path.is_file():
            continue
        for paragraph in path.read_text().split("\n\n"):
            if re.search(rf"(?m)^Suites:.*\b{suite}\b(?!-)", paragraph):
                return re.search(r"(?m)^URIs:\s*(\S+)", paragraph).group(1)
        line = re.search(rf"(?m)^deb\s+(?:\[.*\]\s+)?(\S+)\s+{suite}\s", path.read_text())
        if line:
            return line.group(1)
    raise AssertionError("/etc/apt names no archive of this suite")


class Machine:
    suite = None  # of Debian

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("needs root")
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="cuzk-machine-"))
        cls.addClassCleanup(cls.remove)
        cls.package = packing.package_in(FOLDER)
        cls.root = cls.folder / "root"
        address = mirror()
        packing.call("debootstrap", "--variant=minbase", "--include=systemd,man-db", cls.suite, cls.root, address)
        sources = cls.root / "etc/apt/sources.list"
        sources.write_text(f"deb {address} {cls.suite} main\n")
        for path in pathlib.Path("/etc/apt/apt.conf.d").glob("*"):  # how this machine reaches the mirror
            shutil.copy(path, cls.root / "etc/apt/apt.conf.d")
        # The scripts of packages find the doubles of systemd first.
        (cls.root / "etc/apt/apt.conf.d/99path").write_text(f'DPkg::Path "{PATH}";\n')
        (cls.root / "etc/dpkg/dpkg.cfg.d").mkdir(exist_ok=True)
        shutil.copy("/etc/resolv.conf", cls.root / "etc/resolv.conf")
        for name in ("proc", "sys", "dev"):
            packing.call("mount", "--rbind", f"/{name}", cls.root / name)
            packing.call("mount", "--make-rslave", cls.root / name)
        cls.inside("apt-get update -qq")
        cls.inside(f"apt-get install -y -qq --no-install-recommends {KEEP} lintian")
        shutil.copy(cls.package, cls.root / "root/cuzkd.deb")
        # What is proved, and the parameters for it: read-only, this machine's own.
        for name, folder in (("vectors", fixture.VECTORS), ("parameters", fixture.PARAMS)):
            (cls.root / "srv" / name).mkdir()
            packing.call("mount", "--bind", "-o", "ro", folder, cls.root / "srv" / name)

    @classmethod
    def remove(cls):
        for name in ("proc", "sys", "dev", "srv/vectors", "srv/parameters"):
            subprocess.run(["umount", "-R", "-l", str(cls.root / name)], capture_output=True)
        # What is still mounted is this machine's own.
        if str(cls.root) not in pathlib.Path("/proc/self/mounts").read_text():
            shutil.rmtree(cls.folder, ignore_errors=True)

    @classmethod
    def inside(cls, command, expected=0):
        environment = {"PATH": PATH, "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
        done = subprocess.run(["chroot", str(cls.root), "sh", "-c", command], capture_output=True, text=True,
                              env=environment, stdin=subprocess.DEVNULL)
        if done.returncode != expected:
            raise AssertionError(f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def install(self, package="/root/cuzkd.deb"):
        return self.inside(f"apt-get install -y -qq --reinstall --allow-downgrades {KEEP} {package}")

    def files(self):
        """Every file but those that apt, dpkg, the databases of users and of pages, and logs keep for themselves."""
        theirs = re.compile(r"var/(cache|log|lib/(apt|dpkg|systemd/deb-systemd-helper-enabled$))|root/|proc/|sys/|dev/|"
                            r"run/|tmp/|srv/|etc/(passwd|group|shadow|gshadow)-?$|etc/\.pwd\.lock|var/lib/systemd$")
        found = set()
        for folder, folders, names in os.walk(self.root):
            here = pathlib.Path(folder).relative_to(self.root)
            folders[:] = [f for f in folders if not theirs.match(f"{here / f}/")]
            found |= {path for name in [*names, *folders]
                      if not theirs.match(path := (here / name).as_posix())}
        return found

    def upgrade_of(self, version):
        """The same package with a higher version and another default file."""
        changed = self.folder / "changed"
        shutil.rmtree(changed, ignore_errors=True)
        packing.call("dpkg-deb", "-R", self.package, changed)
        control = changed / "DEBIAN/control"
        control.write_text(re.sub(r"(?m)^Version: .*", f"Version: {version}", control.read_text()))
        settings = changed / "etc/cuzkd/cuzkd.toml"
        settings.write_text(settings.read_text() + "# of a later version\n")
        packing.call("dpkg-deb", "--root-owner-group", "-b", changed, self.root / "root/later.deb")
        return "/root/later.deb"

    def test_one_sector_of_each_kind_is_proved(self):
        self.install()
        self.addCleanup(self.inside, "apt-get purge -y -qq cuzkd")
        # The libraries of the distribution have no part in it.
        self.assertEqual(re.findall(r"(\S+) => ", self.inside("ldd /usr/bin/cuzkd /usr/bin/cuzkctl | grep -v 'lib[cm].so'; :")),
                         [])
        (self.root / "etc/cuzkd/cuzkd.toml").write_text(
            '[params]\ndirectory = "/srv/parameters"\nallow_development = true\n'
            '[devices]\nuse = "cpu"\n[http]\nlisten = ""\n')
        self.inside("cuzkd --check-config && install -d -o cuzkd -m 0750 /run/cuzkd && install -d -o cuzkd -m 0700 /var/lib/cuzkd")
        with (self.root / "root/log").open("w") as log:
            daemon = subprocess.Popen(["chroot", str(self.root), "runuser", "-u", "cuzkd", "--", "cuzkd"],
                                      env={"PATH": PATH}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log,
                                      start_new_session=True)
        self.addCleanup(self.stop, daemon)
        self.inside("cuzkctl status --wait 60s")
        for kind in ("porep", "snap", "window", "winning"):
            request = f"/srv/vectors/{kind}/{fixture.requests(kind)[0].name}"
            self.inside(f"cuzkctl prove --request {request} --out /root/proof && "
                        f"cuzkctl verify --request {request} --proof /root/proof")

    @staticmethod
    def stop(daemon):
        os.killpg(daemon.pid, signal.SIGTERM)
        daemon.wait(timeout=600)

    def test_installs_upgrades_removes_and_purges(self):
        before = self.files()
        self.install()
        self.assertRegex(self.inside("getent passwd cuzkd"), r"cuzkd:x:\d+:\d+:.*:/var/lib/cuzkd:/usr/sbin/nologin")
        self.assertIn("enabled", self.inside("systemctl is-enabled cuzkd.service"))
        self.inside("cuzkd --check-config && runuser -u cuzkd -- cuzkd --check-config")
        self.assertRegex(self.inside("mandb -q && man -f cuzkd"), r"(?m)^cuzkd \(8\) +- Filecoin")
        self.inside("cuzkctl doctor", expected=1)  # no parameters, no daemon; it says so
        self.assertIn("lintian: clean", self.inside("lintian --fail-on error,warning /root/cuzkd.deb && echo lintian: clean"))

        settings = self.root / "etc/cuzkd/cuzkd.toml"
        settings.write_text(settings.read_text() + '[log]\nformat = "json"\n')
        (self.root / "var/lib/cuzkd").mkdir(exist_ok=True)
        (self.root / "var/lib/cuzkd/jobs.db").write_text("accepted")
        self.inside(f"apt-get install -y -qq -o Dpkg::Options::=--force-confold {self.upgrade_of('99.0')}")
        self.assertIn('format = "json"', settings.read_text(), "an upgrade must keep the operator's settings")
        self.assertIn("99.0", self.inside("dpkg-query -W -f '${Version}' cuzkd"))
        self.assertTrue((self.root / "var/lib/cuzkd/jobs.db").exists())

        self.inside("apt-get remove -y -qq cuzkd")
        self.assertTrue(settings.exists(), "only a purge takes the settings")
        self.assertTrue((self.root / "var/lib/cuzkd/jobs.db").exists())
        self.assertFalse((self.root / "usr/bin/cuzkd").exists())
        parameters = self.root / "var/tmp/filecoin-proof-parameters"
        parameters.mkdir(exist_ok=True)
        (parameters / "x.params").write_text("gigabytes")
        self.install()
        self.inside("apt-get purge -y -qq cuzkd")
        self.assertTrue((parameters / "x.params").exists(), "parameters are not the package's")
        shutil.rmtree(parameters)
        self.assertEqual(self.files() - before, set())
        self.assertEqual(before - self.files(), set())
        self.assertEqual(self.inside("find / -xdev -xtype l -path '*cuzkd*'"), "", "broken links")

    def test_starts_only_with_settings_that_are_right(self):
        asked = self.root / "var/log/asked-of-systemd"
        for name in ("systemctl", "deb-systemd-invoke"):
            path = self.root / "usr/local/sbin" / name
            path.write_text(RECORDER)
            path.chmod(0o755)
            self.addCleanup(path.unlink)
        running = self.root / "run/systemd/system"
        running.mkdir(parents=True, exist_ok=True)
        self.addCleanup(shutil.rmtree, running)
        self.addCleanup(self.inside, "apt-get purge -y -qq cuzkd")

        self.install()
        self.assertIn("deb-systemd-invoke start cuzkd.service", asked.read_text())
        settings = self.root / "etc/cuzkd/cuzkd.toml"
        right = settings.read_text()
        settings.write_text("[jobs]\nqeue = 1\n")
        asked.write_text("")
        said = self.inside("dpkg-reconfigure cuzkd")
        self.assertIn("cuzkd.toml:2", said)
        self.assertIn("not started", said)
        self.assertNotIn("start", asked.read_text())
        settings.write_text(right)
        self.inside("dpkg-reconfigure cuzkd")
        self.assertIn("deb-systemd-invoke start", asked.read_text())

        # A daemon that runs is left alone by an upgrade, and stopped before its programs go.
        (self.root / "run/cuzkd-is-active").write_text("")
        self.addCleanup((self.root / "run/cuzkd-is-active").unlink, missing_ok=True)
        asked.write_text("")
        said = self.install()
        self.assertIn("systemctl restart cuzkd", said)
        self.assertNotRegex(asked.read_text(), r"invoke (re)?start|invoke stop")
        self.inside("apt-get remove -y -qq cuzkd")
        self.assertIn("deb-systemd-invoke stop cuzkd.service", asked.read_text())


class Debian12(Machine, unittest.TestCase):
    suite = "bookworm"


class Debian13(Machine, unittest.TestCase):
    suite = "trixie"


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    FOLDER = pathlib.Path(sys.argv[4])
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
