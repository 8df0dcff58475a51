#!/usr/bin/env python3
"""What a newcomer types: the tour in README.md and the demonstration behind `./dev demo`, also where they cannot work.

Usage: tour_test.py BIN VECTORS PARAMETERS SOURCE
"""

import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

import daemon_fixture as fixture
from daemon_fixture import control

SOURCE = None


class Newcomer(unittest.TestCase):

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cuzk-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def shell(self, script, **variables):
        """In the clone, with the programs in PATH. What it leaves running is ended."""
        environment = {**fixture.clean_environment(), **variables}
        environment["PATH"] = f"{fixture.BIN}:{environment['PATH']}"
        done = subprocess.run(["bash", "-c", f"trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT\n{script}"], cwd=SOURCE,
                              capture_output=True, text=True, env=environment, timeout=600, stdin=subprocess.DEVNULL)
        return fixture.Answer(done.returncode, done.stdout, done.stderr)


class Tour(Newcomer):

    def blocks(self):
        """The blocks of commands behind the one that builds, in a folder of this test."""
        text = (SOURCE / "README.md").read_text().partition("## A tour of five minutes")[2].partition("\n## ")[0]
        blocks = re.findall(r"```\n(.*?)```", text, re.DOTALL)
        self.assertIn("./dev build", blocks[0])
        return [block.replace("/tmp/", f"{self.folder}/") for block in blocks[1:]]

    def test_the_tour_is_as_written(self):
        walk = self.shell("set -e\n" + "\n".join(self.blocks()) + "\nkill %1\nwait %1", CUZK_HTTP_LISTEN="127.0.0.1:0")
        self.assertEqual(walk.code, 0, walk)
        self.assertRegex(walk.out, r"(?m)^verified \(development key")
        self.assertRegex(walk.out, r"(?m)^winning +0 +0 +1 +0 +0$")
        self.assertEqual(len((self.folder / "proof").read_bytes()), 192)

    def test_a_daemon_that_cannot_start_is_not_waited_for_without_end(self):
        """And its log is shown."""
        start = self.blocks()[0].splitlines(keepends=True)
        self.assertTrue(start[0].startswith("cuzkctl params make"), start)
        start = "".join(start[1:]).replace(f"{self.folder}/params", str(fixture.PARAMS))
        for before, after in (("--wait 20s", "--wait 1s"), ("cuzkd.log &\n", "cuzkd.log || true\n")):  # it ends by itself
            self.assertEqual(start.count(before), 1, start)
            start = start.replace(before, after)
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            answer = self.shell(start, CUZK_HTTP_LISTEN=f"127.0.0.1:{port}")
        self.assertIn("did not answer within 1000 ms", answer.err)
        self.assertIn(f"http.listen: cannot listen on 127.0.0.1:{port}", answer.out)


class Demonstration(Newcomer):
    # What runs a program of the build only when it is kept from the machine's settings.
    WRAPPER = '#!/bin/sh\ncase " $* " in *" --config /dev/null "*) exec "{}" "$@" ;; esac\necho "$0 reads /etc" >&2\nexit 99\n'

    def setUp(self):
        super().setUp()
        self.bin = self.folder / "release" / "bin"
        self.bin.mkdir(parents=True)
        (self.folder / "release" / "parameters").symlink_to(fixture.PARAMS)
        for name in ("cuzkd", "cuzkctl"):
            self.program(name, self.WRAPPER.format(fixture.BIN / name))

    def program(self, name, text):
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def demo(self, **variables):
        return self.shell(f"tests/integration/cli/demo.sh {self.folder}", **variables)

    def test_a_sector_is_proved_whatever_the_machine_has_for_settings(self):
        answer = self.demo(CUZK_LISTEN="nonsense", CUZK_NO_SETTING="1")
        self.assertEqual(answer.code, 0, answer)
        self.assertRegex(answer.out, r"(?m)^verified \(development key")

    def test_a_daemon_that_ends_is_told_with_its_last_lines(self):
        self.program("cuzkd", "#!/bin/sh\necho 'cuzkd: no room here' >&2\nexit 75\n")
        answer = self.demo()
        self.assertNotEqual(answer.code, 0, answer)
        for words in ("cuzkd ended before it answered", "cuzkd: no room here"):
            self.assertIn(words, answer.err)


class Waiting(Newcomer):

    def test_status_waits_for_a_daemon_that_starts(self):
        daemon = fixture.Daemon(wait=False)
        self.addCleanup(daemon.close)
        answer = daemon.control("--json", "status", "--wait", "10m")
        self.assertEqual((answer.code, "uptime_seconds" in json.loads(answer.out)), (0, True), answer)

    def test_and_says_how_long_it_did(self):
        answer = control("--address", f"unix:{self.folder}/s", "status", "--wait", "150ms")
        self.assertEqual((answer.code, "did not answer within 150 ms" in answer.err), (3, True), answer)
        self.assertEqual(control("status", "--wait", "soon").code, 2)


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    SOURCE = pathlib.Path(sys.argv[4])
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
