#!/usr/bin/env python3
"""Two daemons behind HAProxy with config/haproxy.cfg; one is killed while it works.

Usage: balancer_test.py BIN VECTORS PARAMETERS SOURCE
"""

import csv
import json
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

import daemon_fixture as fixture
import net_fixture as net
from daemon_fixture import control, requests

SOURCE = None
HAPROXY = shutil.which("haproxy") or "/usr/sbin/haproxy"


def free_port():
    probe = socket.socket()
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
    probe.close()
    return port


class Prover:
    """A daemon on TCP that can be started again, and whose device can be held: there must be time to kill it."""

    def __init__(self):
        self.port, self.http = free_port(), free_port()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cuzkd-"))
        self.start()

    def start(self):
        self.daemon = net.FaultyDaemon("--listen", f"127.0.0.1:{self.port}", "--http.listen", f"127.0.0.1:{self.http}",
                                       "--devices.workers", "1", folder=self.folder)

    def status(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http}/status", timeout=120) as answer:
            return json.load(answer)

    def unfinished(self):
        return sum(job["state"] in ("queued", "running") for job in self.status()["pipelines"])

    def completed(self):
        return self.status()["counters"]["total_completed"]

    def close(self):
        self.daemon.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def wait_for(condition, what, seconds=600):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(f"never happened: {what}")


class Caller(threading.Thread):
    """Proves one request as Curio does: whoever finds no daemon comes again with the same id."""

    def __init__(self, address, request, number, folder):
        super().__init__()
        self.command = ["--address", address, "prove", "--request", request, "--id", f"job-{number}", "--out",
                        folder / f"proof-{number}"]
        self.answers = []

    def run(self):
        end = time.monotonic() + 600
        while time.monotonic() < end:
            answer = control(*self.command)
            self.answers.append(answer)
            if answer.code != 3:
                return
            time.sleep(0.5)

    def lost(self):
        return sum(answer.code == 3 for answer in self.answers)


class Balancer(unittest.TestCase):

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cuzk-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.provers = [Prover(), Prover()]
        for prover in self.provers:
            self.addCleanup(prover.close)
        self.front = free_port()
        self.log = self.folder / "haproxy.log"
        with open(self.log, "w") as log:
            self.balancer = subprocess.Popen([HAPROXY, "-db", "-f", self.configuration(), "-f", self.question_socket()],
                                             stdout=log, stderr=log)
        self.addCleanup(self.balancer.wait)
        self.addCleanup(self.balancer.kill)
        wait_for(lambda: control("--address", f"127.0.0.1:{self.front}", "status").code == 0, "the balancer answers")
        wait_for(lambda: all(self.checked()), "the balancer has looked at both")
        self.assertEqual(self.checked(), ["L7OK", "L7OK"], self.log.read_text())

    def question_socket(self):
        """What the shipped file does not have: where the balancer can be asked."""
        path = self.folder / "questions.cfg"
        path.write_text(f"global\n    stats socket {self.folder}/questions level user\n")
        return path

    def checked(self):
        """How the last health check of each prover ended; empty before the first one has."""
        with socket.socket(socket.AF_UNIX) as asked:
            asked.connect(str(self.folder / "questions"))
            asked.sendall(b"show stat\n")
            text = asked.makefile().read().removeprefix("# ")
        rows = [row for row in csv.DictReader(text.splitlines()) if row["svname"].startswith("prover")]
        ends = [row["check_status"].removeprefix("* ") for row in rows]
        return ["" if end in ("INI", "UNK") else end for end in ends]

    def configuration(self):
        """The shipped file with the addresses of this test."""
        text = (SOURCE / "config" / "haproxy.cfg").read_text()
        changes = [("bind 127.0.0.1:9830", f"bind 127.0.0.1:{self.front}"),
                   # A machine that is busy with other tests answers late.
                   ("    timeout connect 5s\n", "    timeout connect 5s\n    timeout check 1m\n")]
        for number, prover in enumerate(self.provers, 1):
            changes.append((f"server prover{number} 192.0.2.1{number}:9820 port 9821",
                            f"server prover{number} 127.0.0.1:{prover.port} port {prover.http}"))
        for before, after in changes:
            self.assertEqual(text.count(before), 1, before)
            text = text.replace(before, after)
        path = self.folder / "haproxy.cfg"
        path.write_text(text)
        return path

    def marked(self, number, state):
        return re.search(rf"Server provers/prover{number} is {state}", self.log.read_text()) is not None

    def start(self, numbers):
        request = requests("winning")[0]
        callers = [Caller(f"127.0.0.1:{self.front}", request, number, self.folder) for number in numbers]
        for caller in callers:
            caller.start()
        return callers

    def finish(self, callers):
        for caller in callers:
            caller.join()
            self.assertEqual(caller.answers[-1].code, 0, caller.answers)
            proof = caller.command[-1]
            verified = control("verify", "--request", caller.command[4], "--proof", proof,
                               environment={"CUZK_PARAMS_DIRECTORY": str(fixture.PARAMS)})
            self.assertEqual(verified.code, 0, verified)

    def test_the_shipped_file_is_understood(self):
        done = subprocess.run([HAPROXY, "-c", "-f", str(SOURCE / "config" / "haproxy.cfg")], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done)
        self.assertNotIn("WARNING", done.stdout + done.stderr)

    def test_one_of_two_is_killed_and_another_one_drains(self):
        first, second = self.provers
        for prover in self.provers:
            prover.daemon.tell("hold")
        callers = self.start(range(6))
        wait_for(lambda: first.unfinished() and second.unfinished(), "both prove")
        first.daemon.kill()
        second.daemon.tell("release")
        self.finish(callers)
        self.assertGreater(sum(caller.lost() for caller in callers), 0, "nobody was there when it was killed")
        wait_for(lambda: self.marked(1, "DOWN"), "the balancer sees that one is down")
        self.assertFalse(self.marked(2, "DOWN"))

        # It comes back, and what it had accepted is proved though nobody waits any more.
        first.start()
        wait_for(lambda: self.marked(1, "UP"), "the balancer takes it back")
        wait_for(lambda: first.unfinished() == 0, "accepted jobs end")

        # The other one is told to stop while it proves: its calls end well, later ones go to the first.
        before = first.completed()
        second.daemon.tell("hold")
        callers = self.start(range(10, 14))
        wait_for(second.unfinished, "the second proves")
        second.daemon.terminate(signal.SIGTERM)
        wait_for(lambda: "draining" in second.daemon.log(), "the second drains")
        late = self.start(range(20, 21))
        second.daemon.tell("release")
        self.finish(callers + late)
        self.assertEqual(second.daemon.process.wait(timeout=600), 0, second.daemon.log())
        self.assertGreater(first.completed(), before)


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    SOURCE = pathlib.Path(sys.argv[4])
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
