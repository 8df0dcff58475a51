#!/usr/bin/env python3
"""Few threads: the daemon says what is short and leaves, or works with those that there are.

Usage: threads_test.py BIN VECTORS PARAMETERS LIBRARY MODULES
"""

import re
import subprocess
import sys
import unittest

import daemon_fixture as fixture
import http2
import net_fixture as net
from daemon_fixture import requests

LIBRARY = MODULES = None


class Threads(unittest.TestCase):

    def start(self, threads, **options):
        daemon = fixture.Daemon(environment={"LD_PRELOAD": LIBRARY, "FAULTY_THREADS": str(threads)}, **options)
        self.addCleanup(daemon.close)
        return daemon

    def refused(self, threads):
        """The number that it needs."""
        daemon = self.start(threads, wait=False)
        self.assertEqual(daemon.process.wait(timeout=600), 75, daemon.log())
        found = re.search(rf"there are too few threads: {threads} of (\d+) can be started \(.*\): raise TasksMax=", daemon.log())
        self.assertIsNotNone(found, daemon.log())
        return int(found[1])

    def test_too_few_are_an_error_that_says_so_and_as_many_as_it_asks_for_do(self):
        needed = self.refused(0)
        for threads in (needed // 2, needed - 1):
            self.assertEqual(self.refused(threads), needed)
        daemon = self.start(needed)
        self.assertIn(f"at most {needed} threads can be started", daemon.log())
        self.assertEqual(daemon.control("prove", "--request", requests("winning")[0]).code, 0, daemon.log())
        self.assertEqual(net.http_get(daemon, "/readyz")[0], 200)
        daemon.terminate()
        self.assertEqual(daemon.process.wait(timeout=600), 0, daemon.log())

    def test_a_daemon_that_has_used_up_its_threads_still_ends_as_it_should(self):
        daemon = net.FaultyDaemon(environment={"LD_PRELOAD": LIBRARY, "FAULTY_THREADS": str(self.refused(0))})
        self.addCleanup(daemon.close)
        daemon.tell("hold")
        self.assertEqual(daemon.control("submit", "--request", requests("winning")[0], "--id", "long").code, 0)
        connection = http2.Connection(daemon.socket)
        self.addCleanup(connection.close)
        # Each waits on a thread; those that find none are refused. Which ones is open: a thread that has other work may
        # come back at any time.
        for stream in range(1, 300, 2):
            connection.call(stream, "/cuzk.v1.ProvingEngine/AwaitProof", b"\x0a\x04long")
        self.assertEqual(connection.first_status()[0], "14")  # UNAVAILABLE
        self.assertEqual(net.client(MODULES, "health", daemon.address, "winning")["check"], "SERVING")
        daemon.terminate()
        net.wait_for(lambda: "draining" in daemon.log(), "it drains")
        daemon.tell("release")
        self.assertEqual(daemon.process.wait(timeout=600), 0, daemon.log())

    def test_threads_that_are_used_up_later_are_told_to_clients_and_by_readyz(self):
        folder = net.folder_for(self)
        none = folder / "none"
        daemon = net.FaultyDaemon(environment={"LD_PRELOAD": LIBRARY, "FAULTY_THREADS_NONE": str(none)})
        self.addCleanup(daemon.close)
        self.assertEqual(net.http_get(daemon, "/readyz")[0], 200)
        daemon.tell("hold")
        self.assertEqual(daemon.control("submit", "--request", requests("winning")[0], "--id", "long").code, 0)
        none.touch()
        connection = http2.Connection(daemon.socket)
        self.addCleanup(connection.close)
        # Each takes one of the threads that there are, until one finds none.
        for stream in range(1, 300, 2):
            connection.call(stream, "/cuzk.v1.ProvingEngine/AwaitProof", b"\x0a\x04long")
        status, text = connection.first_status()
        self.assertEqual(status, "14", text)  # UNAVAILABLE
        self.assertIn("cannot start a thread for a call", text)
        answer = lambda: net.http_get(daemon, "/readyz")
        net.wait_for(lambda: answer()[0] == 503, "it is not ready")
        self.assertRegex(answer()[1], "clients are not served at unix:.*cannot start a thread for a call")
        none.unlink()
        net.wait_for(lambda: answer()[0] == 200, "it is ready again")
        daemon.tell("release")

    def test_a_limit_of_the_address_space_ends_it_with_its_name_or_not_at_all(self):
        """`ulimit -v`, in KiB."""
        ended = set()
        for limit in (1 << 20, 3 << 19, 1 << 21, 5 << 19, 1 << 22, 1 << 24):
            folder = net.folder_for(self)
            command = f"ulimit -v {limit}; exec {fixture.BIN / 'cuzkd'} --listen unix:{folder}/s --http.listen '' " \
                      f"--devices.use cpu --jobs.state_directory {folder}/state"
            with self.subTest(limit=limit), open(folder / "log", "w") as log:
                process = subprocess.Popen(["bash", "-c", command], stderr=log, env=fixture.clean_environment())
                self.addCleanup(process.wait)
                self.addCleanup(process.kill)
                said = lambda: (folder / "log").read_text()
                net.wait_for(lambda: process.poll() is not None or "listening on" in said(), "it starts or ends")
                if process.poll() is None:
                    answer = fixture.control("--address", f"unix:{folder}/s", "status")
                    if answer.code == 0:
                        ended.add("served")
                        continue
                    process.wait(timeout=600)
                self.assertEqual(process.returncode, 75, said())
                self.assertIn(f"the address space is at most {limit >> 10} MiB (ulimit -v, LimitAS=)", said())
                self.assertNotIn("terminate called", said())
                ended.add("ended")
        self.assertEqual(ended, {"served", "ended"})


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    LIBRARY, MODULES = sys.argv[4:6]
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]], verbosity=2)
