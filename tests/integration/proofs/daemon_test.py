#!/usr/bin/env python3
"""Sealed sectors go in, verified proofs come out: every recorded 2 KiB request of every kind, over gRPC with cuzkctl.

Usage: daemon_test.py BIN VECTORS PARAMETERS
"""

import json
import sys
import threading
import time
import unittest
import urllib.request

import daemon_fixture as fixture
import net_fixture as net
from daemon_fixture import requests


class Proofs(fixture.DaemonTest):

    def test_every_kind_proves_and_verifies(self):
        for kind in ("porep", "winning", "window", "snap"):
            for request in requests(kind):
                with self.subTest(request=request.name):
                    proof = self.prove_and_verify(request)
                    self.assertEqual(proof.stat().st_size % 192, 0)

    def test_a_proof_is_for_its_request_alone(self):
        first, second = requests("porep")[:2]
        proof = self.prove_and_verify(first)
        self.assertIn("not valid", self.verify(second, proof, expected=1).out)
        changed = bytearray(proof.read_bytes())
        changed[100] ^= 1
        proof.write_bytes(changed)
        self.verify(first, proof, expected=1)
        proof.write_bytes(changed[:-1])
        self.verify(first, proof, expected=1)

    def test_submit_then_await(self):
        request = requests("winning")[0]
        submitted = self.daemon.control("--json", "submit", "--request", request, "--id", "submit then await")
        self.assertEqual(submitted.code, 0, submitted)
        self.assertEqual(submitted.json()["job_id"], "submit then await")
        proof = self.folder / "proof"
        awaited = self.daemon.control("await", "submit then await", "--out", proof)
        self.assertEqual(awaited.code, 0, awaited)
        self.verify(request, proof)
        # The result stays: a second caller gets the same bytes.
        again = self.folder / "again"
        self.assertEqual(self.daemon.control("await", "submit then await", "--out", again).code, 0)
        self.assertEqual(again.read_bytes(), proof.read_bytes())

    def test_S01_the_same_id_with_another_payload_is_another_job(self):
        first, second = requests("porep")[:2]
        answers = {}

        def prove(request):
            proof = self.folder / request.name
            answers[request] = (self.daemon.control("prove", "--request", request, "--id", "same", "--out", proof), proof)

        threads = [threading.Thread(target=prove, args=(request,)) for request in (first, second)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for request, (answer, proof) in answers.items():
            self.assertEqual(answer.code, 0, answer)
            self.verify(request, proof)

    def test_watch_shows_stages_and_ends_with_the_job(self):
        request = requests("porep")[0]
        answer = self.daemon.control("--json", "prove", "--request", request, "--id", "watched")
        self.assertEqual(answer.code, 0, answer)
        lines = [json.loads(line) for line in answer.out.splitlines()]
        stages = {line["stage"] for line in lines if "stage" in line}
        self.assertTrue(stages & {"synthesis", "device", "loading-parameters"}, answer)
        for line in lines[:-1]:
            self.assertTrue(0 <= line["fraction"] <= 1, line)
        watched = self.daemon.control("--json", "watch", "watched")
        self.assertEqual((watched.code, watched.json()["state"]), (0, "completed"), watched)

    def test_parameters_are_preloaded_and_evicted(self):
        self.daemon.control("evict", "winning-2k")
        first = self.daemon.control("--json", "preload", "winning-2k")
        self.assertEqual((first.code, first.json()["already_loaded"]), (0, False), first)
        self.assertTrue(self.daemon.control("--json", "preload", "winning-2k").json()["already_loaded"])
        loaded = {s["circuit_id"]: s for s in self.daemon.control("--json", "status").json()["loaded_srs"]}
        self.assertGreater(int(loaded["winning-2k"]["size_bytes"]), 0)
        evicted = self.daemon.control("--json", "evict", "winning-2k")
        self.assertTrue(evicted.json()["was_loaded"], evicted)
        self.assertGreater(evicted.json()["freed_bytes"], 0)
        self.assertFalse(self.daemon.control("--json", "evict", "winning-2k").json()["was_loaded"])
        self.assertEqual(self.daemon.control("preload", "porep-3g").code, 6)

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.daemon.http_port()}{path}") as answer:
            return answer.read().decode()

    def test_metrics_and_probes_answer(self):
        self.prove_and_verify(requests("winning")[0])
        text = self.get("/metrics")
        samples = dict(line.rsplit(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))
        self.assertGreaterEqual(float(samples['cuzk_proofs_completed_total{proof_kind="winning_post"}']), 1)
        self.assertGreaterEqual(float(samples['cuzk_proof_duration_seconds_count{proof_kind="winning_post"}']), 1)
        self.assertGreaterEqual(float(samples["cuzk_development_parameters_loaded"]), 1)
        self.assertEqual(self.get("/healthz"), "ok\n")
        self.assertEqual(self.get("/readyz"), "ready\n")


class Restart(unittest.TestCase):

    def test_an_accepted_job_survives_kill_and_restart(self):
        request = requests("porep")[0]
        first = fixture.Daemon()
        self.addCleanup(first.close)
        self.assertEqual(first.control("submit", "--request", request, "--id", "survivor").code, 0)
        first.kill()
        second = fixture.Daemon(folder=first.folder)
        self.addCleanup(second.close)
        proof = first.folder / "proof"
        awaited = second.control("await", "survivor", "--out", proof)
        self.assertEqual(awaited.code, 0, awaited)
        verified = fixture.control("verify", "--request", request, "--proof", proof,
                                   environment={"CUZK_PARAMS_DIRECTORY": str(fixture.PARAMS)})
        self.assertEqual(verified.code, 0, verified)


class Held(unittest.TestCase):

    def setUp(self):
        self.daemon = net.FaultyDaemon()
        self.addCleanup(self.daemon.close)
        self.daemon.tell("hold")  # so that the job is not done before the signals come

    def start_proving(self, request, proof):
        answers = []
        thread = threading.Thread(target=lambda: answers.append(
            self.daemon.control("prove", "--request", request, "--id", "running", "--out", proof)))
        thread.start()
        self.daemon.wait_until_held()
        return thread, answers

    def test_S07_await_keeps_its_timeout_and_the_job_goes_on(self):
        request = requests("winning")[0]
        self.assertEqual(self.daemon.control("submit", "--request", request, "--id", "long").code, 0)
        early = self.daemon.control("--json", "await", "long", "--timeout", "1ms")
        self.assertEqual((early.code, early.json()["status"]), (4, "TIMEOUT"), early)
        self.daemon.tell("release")
        self.assertEqual(self.daemon.control("await", "long").code, 0)

    def test_cancel_ends_the_job_for_its_caller(self):
        self.assertEqual(self.daemon.control("submit", "--request", requests("winning")[0], "--id", "doomed").code, 0)
        self.daemon.wait_until_held()
        cancelled = self.daemon.control("--json", "cancel", "doomed")
        self.assertEqual((cancelled.code, cancelled.json()["was_running"]), (0, True), cancelled)
        awaited = self.daemon.control("await", "doomed")
        self.assertEqual(awaited.code, 5, awaited)
        self.assertFalse(self.daemon.control("--json", "cancel", "doomed").json()["was_running"])

    def test_a_second_signal_does_not_wait(self):
        proof = self.daemon.folder / "proof"
        thread, answers = self.start_proving(requests("winning")[0], proof)
        self.daemon.terminate()
        while "draining" not in self.daemon.log() and self.daemon.process.poll() is None:
            time.sleep(0.02)
        self.daemon.terminate()
        self.assertEqual(self.daemon.process.wait(timeout=600), 0)
        thread.join()
        self.assertEqual(answers[0].code, 3, answers)  # UNAVAILABLE: the job is kept for the next start
        self.assertFalse(proof.exists())

    def test_S09_sigterm_lets_running_jobs_finish(self):
        request = requests("winning")[0]
        proof = self.daemon.folder / "proof"
        thread, answers = self.start_proving(request, proof)
        self.daemon.terminate()
        self.daemon.tell("release")
        thread.join()
        self.assertEqual(answers[0].code, 0, answers)
        self.assertEqual(self.daemon.process.wait(timeout=600), 0)
        self.assertEqual(len(proof.read_bytes()) % 192, 0)
        self.assertFalse(self.daemon.socket.exists())
        late = self.daemon.control("prove", "--request", request)
        self.assertEqual(late.code, 3, late)


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
