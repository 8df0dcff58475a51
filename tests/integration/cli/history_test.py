#!/usr/bin/env python3
"""Jobs that ended, as cuzkctl lists them: after a restart, after a kill, with filters, one with its stages.

Usage: history_test.py BIN VECTORS PARAMETERS
"""

import json
import shutil
import sys
import unittest

import daemon_fixture as fixture
import net_fixture as net
from daemon_fixture import Daemon, requests

REFUSED = 6


class History(fixture.DaemonTest):

    def spoilt(self):
        request = self.copy_of(requests("winning")[0])
        sector = request / json.loads((request / "request.json").read_text())["sectors"][0]["file"]
        changed = bytearray(sector.read_bytes())
        changed[-40] ^= 1
        sector.write_bytes(changed)
        return request

    def jobs(self, daemon, *flags):
        answer = daemon.control("--json", "jobs", *flags)
        self.assertEqual(answer.code, 0, answer)
        return json.loads(answer.out)["jobs"]

    def expect_both(self, daemon):
        failed, proved = self.jobs(daemon)
        self.assertEqual((proved["job_id"], proved["state"], proved["kind"]), ("proved", "completed", "winning"))
        self.assertEqual((failed["job_id"], failed["state"], failed["stage"]), ("spoilt", "failed", "synthesis"))
        self.assertTrue(failed["error"])
        self.assertEqual(proved["device"], "cpu")
        self.assertEqual(proved["partitions_done"], proved["partitions_total"])
        times = proved["times_ms"]
        self.assertGreater(times["synthesis"], 0)
        self.assertGreaterEqual(times["total"], times["device"])
        self.assertGreaterEqual(proved["finished_ms"], proved["submitted_ms"])
        return failed["error"]

    def test_what_ended_is_listed_and_survives(self):
        folder = net.folder_for(self)
        for end in ("none", "orderly", "killed"):
            with self.subTest(end=end):
                daemon = Daemon(folder=folder)
                self.addCleanup(daemon.kill)
                if end == "none":
                    self.assertEqual(daemon.control("prove", "--request", requests("winning")[0], "--id", "proved",
                                                    "--out", self.folder / "proof").code, 0)
                    self.assertEqual(daemon.control("prove", "--request", self.spoilt(), "--id", "spoilt").code, 6)
                # The history is written after the answer.
                net.wait_for(lambda: len(self.jobs(daemon)) == 2, "both jobs")
                error = self.expect_both(daemon)
                self.assertEqual([job["job_id"] for job in self.jobs(daemon, "--failed")], ["spoilt"])
                self.assertEqual([job["job_id"] for job in self.jobs(daemon, "--state", "completed", "--since", "24h")], ["proved"])
                self.assertEqual(self.jobs(daemon, "--kind", "porep"), [])
                self.assertEqual([job["job_id"] for job in self.jobs(daemon, "--limit", "1")], ["spoilt"])
                table = daemon.control("jobs").out
                self.assertIn("failed in synthesis", table)
                self.assertIn("proved", table)
                told = daemon.control("job", "spoilt").out
                for words in (error, "winning", "failed in synthesis", "STAGE", "total"):
                    self.assertIn(words, told)
                metrics = net.metrics(daemon)
                self.assertEqual(metrics['cuzk_proofs_completed_total{proof_kind="winning_post"}'], 1)
                self.assertEqual(metrics['cuzk_proofs_failed_total{proof_kind="winning_post"}'], 1)
                self.assertIn("spoilt: ", net.http_get(daemon, "/status")[1])
                self.assertEqual(len(json.loads(net.http_get(daemon, "/history")[1])["recent"]), 2)
                daemon.kill() if end == "none" else daemon.terminate()
                daemon.process.wait(timeout=600)
        shutil.rmtree(folder, ignore_errors=True)

    def test_unfinished_jobs_are_listed_with_their_place(self):
        daemon = net.FaultyDaemon()
        self.addCleanup(daemon.close)
        daemon.tell("hold")
        for i in range(6):
            self.assertEqual(daemon.control("submit", "--request", requests("winning")[0], "--id", f"job {i}").code, 0)
        net.wait_for(lambda: any(job["state"] == "running" for job in self.jobs(daemon)), "one to be proved")
        listed = self.jobs(daemon)
        self.assertEqual(len(listed), 6)
        self.assertTrue(all(job["finished_ms"] is None for job in listed))
        places = [job["place"] for job in listed if job["place"]]
        self.assertEqual(places, list(range(1, len(places) + 1)))
        self.assertEqual(daemon.control("job", "job 0").code, 0)
        self.assertEqual(daemon.control("cancel", "job 5").code, 0)
        net.wait_for(lambda: [job["job_id"] for job in self.jobs(daemon, "--state", "cancelled")] == ["job 5"], "the cancelled one")
        daemon.tell("release")

    def test_mistakes_are_told(self):
        answer = self.daemon.control("job", "nobody")
        self.assertIn("no job nobody is known", answer.err)
        self.assertNotEqual(answer.code, 0)
        for flags, words, code in ((("--kind", "seal"), "kind: seal is not porep", REFUSED), (("--state", "done"), "state: done is not", REFUSED),
                                   (("--since", "soon"), "--since", 2), (("--failed", "--state", "queued"), "--failed", 2)):
            answer = self.daemon.control("jobs", *flags)
            self.assertIn(words, answer.err)
            self.assertEqual(answer.code, code, answer)


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
