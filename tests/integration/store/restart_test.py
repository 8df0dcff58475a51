#!/usr/bin/env python3
"""A job store on a disk that hangs, or that somebody has taken away, as an operator sees it.

Usage: restart_test.py BIN VECTORS PARAMETERS
"""

import concurrent.futures
import shutil
import sys
import unittest

import daemon_fixture as fixture
import net_fixture as net
from daemon_fixture import requests

UNAVAILABLE = 3


class JobStore(unittest.TestCase):

    def start(self, **environment):
        daemon = net.FaultyDaemon(environment=environment)
        self.addCleanup(daemon.close)
        return daemon

    def submit(self, daemon, name, kind="window"):
        return daemon.control("submit", "--request", requests(kind)[0], "--id", name)

    def await_not_ready(self, daemon, words):
        def refused():
            code, text = net.http_get(daemon, "/readyz")
            return text if code == 503 and words in text else None
        net.wait_for(refused, f"/readyz to say: {words}")

    def test_one_that_hangs_is_told_everywhere_and_stops_nobody_else(self):
        daemon = self.start(FAULTY_CUZKD_STORE_PATIENCE="300")
        self.assertEqual(net.metrics(daemon)["cuzk_job_store_wait_seconds"], 0)
        daemon.tell("hang-store accept")
        with concurrent.futures.ThreadPoolExecutor() as pool:
            self.addCleanup(daemon.tell, "hang-store")
            first = pool.submit(self.submit, daemon, "first")
            self.await_not_ready(daemon, "has not answered for")
            self.assertGreater(net.metrics(daemon)["cuzk_job_store_wait_seconds"], 0)
            self.assertEqual(net.metrics(daemon)["cuzk_ready"], 0)
            self.assertIn("has not answered for", net.http_get(daemon, "/status")[1])
            self.assertEqual(net.http_get(daemon, "/healthz")[0], 200)
            self.assertEqual(daemon.control("status").code, 0)
            second = self.submit(daemon, "second")
            self.assertEqual(second.code, UNAVAILABLE, second)
            self.assertIn("has not answered for", second.err)
            daemon.tell("hang-store")
            self.assertEqual(first.result().code, 0, first.result())
        self.assertEqual(daemon.control("await", "first").code, 0)
        net.wait_for(lambda: self.submit(daemon, "second").code == 0, "the second one, whatever the disk is like")
        net.wait_for(lambda: net.http_get(daemon, "/readyz")[0] == 200, "/readyz")

    def test_one_that_hangs_does_not_outlive_a_second_signal(self):
        daemon = self.start(FAULTY_CUZKD_STORE_PATIENCE="300")
        daemon.tell("hang-store finish")
        self.assertEqual(self.submit(daemon, "kept").code, 0)
        net.wait_for(lambda: net.metrics(daemon)["cuzk_job_store_wait_seconds"] > 0, "the store hangs")
        daemon.terminate()
        net.wait_for(lambda: "draining" in daemon.log(), "the first signal")
        daemon.terminate()
        self.assertEqual(daemon.process.wait(timeout=600), 75, daemon.log())
        self.assertIn("accepted jobs are kept", daemon.log())
        again = net.FaultyDaemon(folder=daemon.folder)
        self.addCleanup(again.close)
        self.assertEqual(again.control("await", "kept").code, 0)

    def test_one_that_was_removed_refuses_jobs_and_loses_no_proof(self):
        daemon = self.start()
        daemon.tell("hold")
        self.assertEqual(self.submit(daemon, "before").code, 0)
        daemon.wait_until_held()
        shutil.rmtree(daemon.folder / "state")
        refused = self.submit(daemon, "after")
        self.assertEqual(refused.code, UNAVAILABLE, refused)
        self.assertIn("was removed or replaced while the daemon ran", refused.err)
        self.await_not_ready(daemon, str(daemon.folder / "state"))
        daemon.tell("release")
        self.assertEqual(daemon.control("await", "before").code, 0)
        self.assertGreaterEqual(net.metrics(daemon)["cuzk_job_store_errors_total"], 1)
        daemon.terminate()
        self.assertEqual(daemon.process.wait(timeout=600), 0)

    def test_one_that_was_replaced_ends_the_daemon_after_its_jobs(self):
        daemon = self.start()
        daemon.tell("hold")
        with concurrent.futures.ThreadPoolExecutor() as pool:
            # The call that brings the job waits for it too, so the daemon cannot end before it is answered.
            answer = pool.submit(daemon.control, "prove", "--request", requests("window")[0], "--id", "before",
                                 "--out", daemon.folder / "proof")
            daemon.wait_until_held()
            shutil.rmtree(daemon.folder / "state")
            (daemon.folder / "state").mkdir(mode=0o700)
            net.wait_for(lambda: "the directory of jobs.state_directory was replaced" in daemon.log(), "it is noticed")
            self.assertIsNone(daemon.process.poll())
            daemon.tell("release")
            self.assertEqual(answer.result().code, 0, answer.result())
        self.assertEqual(daemon.process.wait(timeout=600), 75, daemon.log())

    def test_a_winning_post_is_proved_while_the_disk_hangs(self):
        daemon = self.start()
        daemon.tell("hang-store accept")
        self.addCleanup(daemon.tell, "hang-store")
        self.assertEqual(self.submit(daemon, "unstored", "winning").code, 0)
        self.assertEqual(daemon.control("await", "unstored").code, 0)
        self.assertIn("unstored: proved without being stored: ", daemon.log())
        refused = self.submit(daemon, "window")
        self.assertEqual(refused.code, UNAVAILABLE, refused)
        daemon.tell("hang-store")


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
