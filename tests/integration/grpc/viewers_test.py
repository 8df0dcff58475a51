#!/usr/bin/env python3
"""Who only looks on, does not read or goes away takes nothing from those who prove: threads, memory, results.

Usage: viewers_test.py BIN VECTORS PARAMETERS MODULES
"""

import itertools
import json
import sys
import unittest

import daemon_fixture as fixture
import http2
import net_fixture as net
from daemon_fixture import requests
from http2 import DATA

MODULES = None
REFLECTION = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
LIST_SERVICES = b"\x3a\x01*"


def named(job):
    """A message whose first field is a text, and nothing else."""
    return bytes([0x0a, len(job)]) + job.encode()


class Viewers(unittest.TestCase):

    def start(self, *flags, **options):
        daemon = net.FaultyDaemon(*flags, **options)
        self.addCleanup(daemon.close)
        return daemon

    def connect(self, daemon):
        connection = http2.Connection(daemon.socket)
        connection.socket.settimeout(60)
        self.addCleanup(connection.close)
        return connection

    def hold(self, daemon, job):
        daemon.tell("hold")
        self.assertEqual(daemon.control("submit", "--request", requests("winning")[0], "--id", job).code, 0)
        daemon.wait_until_held()

    # One after another: each has its answer, or its refusal, before the next one comes.

    def test_streams_of_reflection_take_seats(self):
        daemon = self.start("--grpc.threads", "16")
        connection = self.connect(daemon)
        answered = 0
        for stream in range(1, 80, 2):
            connection.call(stream, REFLECTION, LIST_SERVICES, end=False)
            answered += connection.until(stream, DATA)
        self.assertEqual(answered, 4)
        words = fixture.run("node", net.CLIENT, "services", daemon.address, environment={"GRPCJS_MODULES": str(MODULES)})
        self.assertIn("RESOURCE_EXHAUSTED: too many viewers: Watch and reflection may use 4 of 16 threads (grpc.threads)", words.err)
        self.assertEqual(daemon.control("status").code, 0)
        self.assertEqual(daemon.control("prove", "--request", requests("winning")[0]).code, 0)
        self.assertEqual(net.client(MODULES, "health", daemon.address, "winning")["check"], "SERVING")
        connection.close()
        net.wait_for(lambda: "ProvingEngine" in fixture.run(
            "node", net.CLIENT, "services", daemon.address, environment={"GRPCJS_MODULES": str(MODULES)}).out, "seats are free")

    def test_who_watches_shuts_out_nobody_who_waits(self):
        daemon = self.start("--grpc.threads", "16")
        self.hold(daemon, "long")
        connection = self.connect(daemon)
        answered = 0
        for stream in range(1, 80, 2):
            connection.call(stream, "/cuzkd.v1.Operator/Watch", named("long"))
            answered += connection.until(stream, DATA)
        self.assertEqual(answered, 4)
        self.assertIn("too many viewers: Watch and reflection may use 4 of 16", daemon.control("watch", "long").err)
        self.assertEqual(daemon.control("--json", "await", "long", "--timeout", "1ms").json()["status"], "TIMEOUT")
        daemon.tell("release")
        self.assertEqual(daemon.control("await", "long").code, 0)

    # Clients that do not read.

    def test_an_answer_that_nobody_takes_ends(self):
        daemon = self.start("--grpc.keepalive_timeout", "1s")
        connection = self.connect(daemon)
        connection.shut_window()
        connection.call(1, "/cuzk.v1.ProvingEngine/GetStatus", b"")
        self.assertFalse(connection.until(1), "it ends")

    def test_a_watcher_who_does_not_read_is_let_go(self):
        daemon = self.start("--grpc.keepalive_timeout", "1s", "--grpc.threads", "8")
        connection = self.connect(daemon)
        connection.shut_window()
        for stream in (1, 3):
            connection.call(stream, "/cuzkd.v1.Operator/Watch", b"")
        jobs = [{"request_id": f"{i:0>1000}", "proof_kind": "POREP_SEAL_COMMIT", "vanilla_proof": "e30="} for i in range(100)]
        (daemon.folder / "jobs").write_text(json.dumps(jobs))
        answers = net.client(MODULES, "calls", daemon.address, "SubmitProof", daemon.folder / "jobs")
        self.assertEqual(len([answer for answer in answers if answer.get("job_id")]), 100, answers[-1])
        for stream in (1, 3):
            self.assertFalse(connection.until(stream), "it ends")
        self.hold(daemon, "long")
        reader, streams = self.connect(daemon), itertools.count(1, 2)

        def watch():
            stream = next(streams)
            reader.call(stream, "/cuzkd.v1.Operator/Watch", named("long"))
            return reader.until(stream, DATA)

        net.wait_for(watch, "the seats are free again")

    def test_who_reads_may_stay(self):
        daemon = self.start("--grpc.keepalive_timeout", "1s")
        self.hold(daemon, "long")
        watch, reflection = self.connect(daemon), self.connect(daemon)
        watch.call(1, "/cuzkd.v1.Operator/Watch", named("long"))
        reflection.call(1, REFLECTION, LIST_SERVICES, end=False)
        self.assertTrue(watch.until(1, DATA) and reflection.until(1, DATA))
        for _ in range(3):  # in the time that three clients have which do not read
            stalled = self.connect(daemon)
            stalled.shut_window()
            stalled.call(1, "/cuzk.v1.ProvingEngine/GetStatus", b"")
            self.assertFalse(stalled.until(1), "it ends")
        reflection.message(1, LIST_SERVICES)
        self.assertTrue(reflection.until(1, DATA), "another answer")
        daemon.tell("release")
        told = [payload for kind, payload in watch.frames_of(1) if kind == DATA]
        self.assertIn(b"completed", told[-1])
        self.assertEqual(daemon.control("await", "long").code, 0)
        self.assertEqual(net.metrics(daemon)["cuzk_results_not_taken_total"], 0)

    def test_few_read_the_trace_at_once(self):
        daemon = self.start("--grpc.keepalive_timeout", "1h")
        connection = self.connect(daemon)
        connection.shut_window()
        for stream in (1, 3, 5, 7):
            connection.call(stream, "/cuzkd.v1.Operator/GetTimeline", b"")
        begun = 'cuzk_grpc_requests_total{grpc_code="OK",grpc_method="GetTimeline"}'
        net.wait_for(lambda: net.metrics(daemon).get(begun) == 4, "four are being answered")
        code, text = net.http_get(daemon, "/trace")
        self.assertEqual((code, "too many clients are reading the trace" in text), (503, True), text)
        other = self.connect(daemon)
        other.call(1, "/cuzkd.v1.Operator/GetTimeline", b"")
        self.assertFalse(other.until(1, DATA), "it is refused")
        connection.close()
        net.wait_for(lambda: net.http_get(daemon, "/trace")[0] == 200, "it is free again")

    def test_a_proof_that_nobody_took_is_still_there(self):
        daemon = self.start("--grpc.keepalive_timeout", "1s")
        submit = lambda: daemon.control("submit", "--request", requests("winning")[0], "--id", "lost")
        joined = lambda: net.metrics(daemon)["cuzk_jobs_joined_total"]
        not_taken = lambda: net.metrics(daemon)["cuzk_results_not_taken_total"]
        self.assertEqual(submit().code, 0)
        connection = self.connect(daemon)
        connection.shut_window()
        connection.call(1, "/cuzk.v1.ProvingEngine/AwaitProof", named("lost"))
        self.assertFalse(connection.until(1), "it ends")
        net.wait_for(lambda: not_taken() == 1, "the daemon knows")
        daemon.tell("hold")  # nothing is proved any more
        self.assertEqual(submit().code, 0)
        self.assertEqual(joined(), 1)
        self.assertEqual(daemon.control("await", "lost").code, 0)
        # Now somebody has it.
        self.assertEqual(submit().code, 0)
        self.assertEqual((joined(), not_taken()), (1, 1))
        daemon.tell("release")


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    MODULES = sys.argv[4]
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
