#!/usr/bin/env python3
"""The image of config/container: built from the tarball on a Debian made by debootstrap, started as compose.yaml starts it but
for the cards, and asked for a proof. Skipped where there is no container engine that runs one.

Usage: container_test.py BIN VECTORS PARAMETERS SOURCE FOLDER   (FOLDER: where cpack put the tarball)
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
import machine_test as machine
import package_test as packing

SOURCE = FOLDER = None
BASE, IMAGE, NAME = "localhost/cuzk-test-base", "localhost/cuzk-test", f"cuzk-test-{os.getpid()}"
# Limits that any machine may set, since an engine may ask for more than it may have.
LIMITS = ["--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096"]


def engine_that_runs(image):
    """The command line of an engine that runs containers of the image here, and why there is none."""
    said = "there is no podman and no docker"
    for engine, runtime in (("podman", None), ("podman", "runc"), ("docker", None)):
        if not shutil.which(engine) or (runtime and not shutil.which(runtime)):
            continue
        command = [engine, *(["--runtime", shutil.which(runtime)] if runtime else [])]
        done = subprocess.run([*command, "run", "--rm", *LIMITS, "--network=none", image, "true"], capture_output=True,
                              text=True)
        if done.returncode == 0:
            return command, ""
        said = done.stderr
    return None, said


class Container(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("debootstrap needs root")
        if not shutil.which("podman") and not shutil.which("docker"):
            raise unittest.SkipTest("there is no podman and no docker")
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="cuzk-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        loader = "podman" if shutil.which("podman") else "docker"
        packing.call("debootstrap", "--variant=minbase", "trixie", cls.folder / "root", machine.mirror())
        packing.call("tar", "-C", cls.folder / "root", "-cf", cls.folder / "base.tar", ".")
        packing.call(loader, "import", cls.folder / "base.tar", BASE)
        cls.engine, why = engine_that_runs(BASE)
        if cls.engine is None:
            raise unittest.SkipTest(f"no container runs here: {why}")
        (cls.folder / "context").mkdir()
        tarball = max(FOLDER.glob("cuzkd-*-linux-x86_64.tar.gz"), key=lambda path: path.stat().st_mtime)
        shutil.copy(tarball, cls.folder / "context")
        podman = ["--format", "docker", "--isolation", "chroot"] if loader == "podman" else []
        packing.call(loader, "build", *podman, "--build-arg", f"BASE={BASE}", "-t", IMAGE,
                     "-f", SOURCE / "config/container/Containerfile", cls.folder / "context")
        cls.addClassCleanup(subprocess.run, [loader, "rmi", "-f", IMAGE, BASE], capture_output=True)

    def inside(self, *command):
        return packing.call(*self.engine, "exec", NAME, *command)

    def test_it_proves_as_a_user_of_its_own_and_keeps_its_state(self):
        state, socket = f"{NAME}-state", f"{NAME}-socket"
        self.addCleanup(subprocess.run, [*self.engine, "volume", "rm", "-f", state, socket], capture_output=True)
        self.addCleanup(subprocess.run, [*self.engine, "rm", "-f", "-t", "60", NAME], capture_output=True)
        packing.call(*self.engine, "run", "-d", "--name", NAME, *LIMITS, "--network=none", "--read-only", "--cap-drop=ALL",
                     "--security-opt=no-new-privileges", "-v", f"{state}:/var/lib/cuzkd", "-v", f"{socket}:/run/cuzkd",
                     "-v", f"{fixture.PARAMS}:/var/tmp/filecoin-proof-parameters:ro", "-v", f"{fixture.VECTORS}:/vectors:ro",
                     "-e", "CUZK_PARAMS_ALLOW_DEVELOPMENT=true", "-e", "CUZK_DEVICES_USE=cpu", IMAGE)
        self.inside("cuzkctl", "status", "--wait", "60s")
        self.assertEqual(self.inside("id", "-un").strip(), "cuzkd")
        request = f"/vectors/winning/{fixture.requests('winning')[0].name}"
        self.inside("sh", "-c", f"cuzkctl prove --request {request} --out /run/cuzkd/proof && "
                                f"cuzkctl verify --request {request} --proof /run/cuzkd/proof")
        self.assertIn("jobs.db", self.inside("ls", "/var/lib/cuzkd"))
        packing.call(*self.engine, "stop", "-t", "60", NAME)
        self.assertIn("0", packing.call(*self.engine, "inspect", "--format", "{{.State.ExitCode}}", NAME))

    def test_the_image_says_what_compose_relies_on(self):
        shown = packing.call(*self.engine, "image", "inspect", IMAGE)
        for text in ('"cuzkctl"', '"status"', "/var/lib/cuzkd", "/run/cuzkd", "9821/tcp", "NVIDIA_DRIVER_CAPABILITIES=compute,utility"):
            self.assertIn(text, shown)
        compose = (SOURCE / "config/container/compose.yaml").read_text()
        for place in re.findall(r"(?m)^ +- \S+?:(/[^:\s]+)(?::ro)?$", compose):
            self.assertIn(f'"{place}"', shown)


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    SOURCE, FOLDER = pathlib.Path(sys.argv[4]), pathlib.Path(sys.argv[5])
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]], verbosity=2)
