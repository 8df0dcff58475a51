#!/usr/bin/env python3
"""The manners of the gRPC server (limits, keepalive, deadlines, health, sockets), some seen in the frames themselves.

Usage: manners_test.py BIN VECTORS PARAMETERS MODULES
"""

import base64
import concurrent.futures
import json
import os
import stat
import struct
import subprocess
import sys
import time
import unittest

import daemon_fixture as fixture
import http2
import net_fixture as net
from daemon_fixture import requests
from http2 import ACK, GOAWAY, PING, SETTINGS

MODULES = None
MAX_CONCURRENT_STREAMS = 3


class Pinger(http2.Connection):

    def ping(self):
        """Whether the server answers; False once it has sent GOAWAY or closed."""
        try:
            self.send(PING, 0, b"12345678")
        except ConnectionError:
            pass  # closed already; why is still to be read
        try:
            while True:
                kind, flags, _, payload = self.frame()
                if kind == GOAWAY:
                    self.reason = payload[8:]
                    return False
                if kind == PING and flags & ACK:
                    return True
        except (EOFError, ConnectionError):
            return False


class Manners(unittest.TestCase):

    def start(self, *flags, **options):
        daemon = net.FaultyDaemon(*flags, **options)
        self.addCleanup(daemon.close)
        return daemon

    def connect(self, daemon):
        connection = Pinger(daemon.socket)
        self.addCleanup(connection.close)
        return connection

    # A WinningPoSt that no disk takes.

    def test_a_winning_post_that_is_not_stored_is_marked_in_the_metadata(self):
        daemon = self.start()
        request = requests("winning")[0]
        self.assertNotIn("stored", net.client(MODULES, "submit", daemon.address, request, "stored"))
        daemon.tell("hang-store accept")
        self.addCleanup(daemon.tell, "hang-store")
        answer = net.client(MODULES, "submit", daemon.address, request, "unstored")
        self.assertEqual(answer["stored"], "no", answer)
        self.assertEqual(daemon.control("await", "unstored").code, 0)
        window = net.client(MODULES, "submit", daemon.address, requests("window")[0], "window")
        self.assertEqual(window["code"], "UNAVAILABLE", window)
        daemon.tell("hang-store")

    # Keepalive.

    def test_clients_may_ping_between_calls(self):
        daemon = self.start("--grpc.least_ping_interval", "1s")
        connection = self.connect(daemon)
        for _ in range(6):
            self.assertTrue(connection.ping())
            time.sleep(1.1)
        # A client that pings without pause is sent away.
        hasty = self.connect(daemon)
        self.assertFalse(all(hasty.ping() for _ in range(50)))
        self.assertIn(b"too_many_pings", hasty.reason)

    def test_silent_peers_are_asked_and_dead_ones_dropped(self):
        daemon = self.start("--grpc.keepalive", "1s", "--grpc.keepalive_timeout", "1s")
        connection = self.connect(daemon)
        asked = 0
        while asked < 3:  # answered
            kind, flags, _, payload = connection.frame()
            if kind == PING and not flags & ACK:
                asked += 1
                connection.send(PING, ACK, payload)
        with self.assertRaises((EOFError, ConnectionError)):  # not answered any more
            while True:
                connection.frame()

    def test_intervals_that_make_no_sense_are_refused(self):
        for name in ("grpc.keepalive", "grpc.keepalive_timeout", "grpc.least_ping_interval"):
            answer = fixture.run(fixture.BIN / "cuzkd", "--check-config", f"--{name}", "10ms")
            self.assertEqual(answer.code, 78)
            self.assertIn(name, answer.err)

    # Limits.

    def test_the_number_of_streams_is_announced(self):
        connection = self.connect(self.start("--grpc.max_calls", "37"))
        while True:
            kind, flags, _, payload = connection.frame()
            if kind == SETTINGS and not flags & ACK:
                break
        values = dict(struct.unpack_from(">HI", payload, at) for at in range(0, len(payload), 6))
        self.assertEqual(values[MAX_CONCURRENT_STREAMS], 37)

    def test_messages_above_the_limit_are_refused_and_those_below_arrive(self):
        daemon = self.start("--grpc.max_message", "1MiB")
        seen = net.client(MODULES, "many", daemon.address, str((1 << 20) - 4096), "1")
        self.assertEqual(seen, {"FAILED": 1})  # it arrived, and is no JSON
        seen = net.client(MODULES, "many", daemon.address, str(2 << 20), "1")
        self.assertEqual(seen, {"RESOURCE_EXHAUSTED": 1})

    def test_fields_that_no_proof_could_have_are_refused_whatever_the_kind(self):
        daemon = self.start()
        porep = {"proof_kind": "POREP_SEAL_COMMIT", "vanilla_proof": base64.b64encode(b"{}").decode()}
        element = {size: base64.b64encode(bytes(size)).decode() for size in (32, 33)}
        for name in ("randomness", "comm_r_old", "comm_r_new", "comm_d_new"):
            answer = net.client(MODULES, "call", daemon.address, "SubmitProof", json.dumps({**porep, name: element[33]}))
            self.assertEqual(answer.get("code"), "INVALID_ARGUMENT", answer)
            self.assertIn(f"{name} has 33 bytes, not 32", answer["message"])
            answer = net.client(MODULES, "call", daemon.address, "SubmitProof", json.dumps({**porep, name: element[32]}))
            self.assertTrue(answer.get("job_id"), answer)
        many = json.dumps({**porep, "vanilla_proofs": [""] * 2350})
        answer = net.client(MODULES, "call", daemon.address, "SubmitProof", many)
        self.assertEqual(answer.get("code"), "INVALID_ARGUMENT", answer)
        self.assertIn("vanilla_proofs has 2350 items", answer["message"])
        for method, wrap in (("SubmitProof", lambda submit: submit), ("Prove", lambda submit: {"submit": submit})):
            (daemon.folder / "many").write_text(json.dumps(wrap({**porep, "vanilla_proofs": [""] * 10000})))
            answer = net.client(MODULES, "call", daemon.address, method, f"@{daemon.folder / 'many'}")
            self.assertEqual(answer.get("code"), "INVALID_ARGUMENT", answer)
            self.assertIn("the message has more than 2413 fields and items", answer["message"])

    def test_arriving_messages_are_bounded_in_sum(self):
        """Sixteen messages of 24 MiB at once, where 64 MiB may be in flight: refused or answered, never swallowed."""
        daemon = self.start("--grpc.ingress_memory", "64MiB", "--memory.budget", "1GiB")
        peak_before = self.peak(daemon)
        seen = net.client(MODULES, "many", daemon.address, str(24 << 20), "16")
        self.assertEqual(sum(seen.values()), 16, seen)
        self.assertLessEqual(set(seen), {"FAILED", "RESOURCE_EXHAUSTED", "UNAVAILABLE"}, seen)
        self.assertIsNone(daemon.process.poll(), daemon.log())
        self.assertLess(self.peak(daemon) - peak_before, 1 << 30)
        self.assertEqual(daemon.control("prove", "--request", requests("winning")[0]).code, 0)

    @staticmethod
    def peak(daemon):
        with open(f"/proc/{daemon.process.pid}/status") as file:
            status = file.read()
        return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) << 10

    def test_ingress_memory_is_a_part_of_the_budget(self):
        answer = fixture.run(fixture.BIN / "cuzkd", "--check-config", "--memory.budget", "1GiB", "--grpc.ingress_memory", "1GiB")
        self.assertEqual(answer.code, 78)
        self.assertIn("grpc.ingress_memory: 1GiB must be more than 0B and less than memory.budget, 1GiB", answer.err)

    def test_waiting_callers_do_not_shut_out_health_checks(self):
        daemon = self.start("--grpc.threads", "8", "--jobs.state_directory", "")
        daemon.tell("hold")
        request = requests("winning")[0]
        callers = [subprocess.Popen([str(fixture.BIN / "cuzkctl"), "--address", daemon.address, "prove", "--request",
                                     str(request), "--id", str(i)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                    env=fixture.clean_environment()) for i in range(12)]
        daemon.wait_until_held()
        # Six may wait for a WinningPoSt on eight threads; once the others are refused, those six wait.
        net.wait_for(lambda: sum(caller.poll() is not None for caller in callers) >= 6, "the others are refused")
        health = net.client(MODULES, "health", daemon.address, "winning")
        self.assertEqual(health["check"], "SERVING")
        daemon.tell("release")
        codes = [caller.wait(timeout=600) for caller in callers]
        self.assertLessEqual(set(codes), {0, 3, 6}, codes)  # proved, or refused because no thread was left
        self.assertIn(0, codes)
        self.assertEqual(daemon.control("prove", "--request", request).code, 0)

    def fill_seats(self, daemon, pool, *command):
        """Forty calls, of which 12 are seated for certain and all others have ended: the daemon itself has refused one.
        gRPC refuses in its own words when it is without a free thread for a moment, which says nothing about seats."""
        waits = [pool.submit(daemon.control, *command) for _ in range(40)]
        words = "too many calls wait for proofs: they may use 12 of 16 threads (grpc.threads)"

        def full():
            ended = [wait.result().out + wait.result().err for wait in waits if wait.done()]
            return len(ended) == 28 and any(words in error for error in ended)

        net.wait_for(full, "every seat is taken")
        return waits

    def test_waiting_callers_leave_threads_for_everybody_else(self):
        daemon = self.start("--grpc.threads", "16", "--jobs.state_directory", "")
        daemon.tell("hold")
        self.assertEqual(daemon.control("submit", "--request", requests("winning")[0], "--id", "long").code, 0)
        daemon.wait_until_held()
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            try:
                waits = self.fill_seats(daemon, pool, "--json", "await", "long")
                # Others who would wait are refused as well, but for what cannot be late.
                self.assertIn("too many calls", daemon.control("watch", "long").err)
                for kind, code, most in (("porep", "RESOURCE_EXHAUSTED", "600000"), ("winning", "DEADLINE_EXCEEDED", "1500")):
                    answer = net.client(MODULES, "deadline", daemon.address, requests(kind)[0], kind, most)
                    self.assertEqual(answer["code"], code, answer)
                self.assertEqual(daemon.control("status").code, 0)
                self.assertEqual(net.client(MODULES, "health", daemon.address, "winning")["check"], "SERVING")
                self.assertEqual(daemon.control("submit", "--request", requests("winning")[0], "--id", "next").code, 0)
                self.assertEqual(daemon.control("cancel", "next").code, 0)
            finally:
                daemon.tell("release")
            answers = [wait.result() for wait in waits]
        self.assertGreaterEqual(sum(answer.code == 0 for answer in answers), 12)

    def test_waiting_for_parameters_takes_a_seat_too(self):
        daemon = self.start("--grpc.threads", "16", environment={"FAULTY_CUZKD_HOLD_LOADS": "1"})
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            try:
                waits = self.fill_seats(daemon, pool, "preload", "winning-2k")
                self.assertEqual(net.client(MODULES, "health", daemon.address, "winning")["check"], "SERVING")
            finally:
                daemon.tell("release")
            answers = [wait.result() for wait in waits]
        self.assertGreaterEqual(sum(answer.code == 0 for answer in answers), 12)

    @staticmethod
    def answered(daemon, method, code):
        return net.metrics(daemon).get(f'cuzk_grpc_requests_total{{grpc_code="{code}",grpc_method="{method}"}}', 0)

    # Deadlines and clients that go.

    def test_a_load_goes_on_when_the_client_that_waited_for_it_goes(self):
        daemon = self.start(environment={"FAULTY_CUZKD_HOLD_LOADS": "1"})
        client = subprocess.Popen([str(fixture.BIN / "cuzkctl"), "--address", daemon.address, "preload", "winning-2k"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=fixture.clean_environment())
        loading = lambda: "winning-2k" in net.http_get(daemon, "/status")[1]
        net.wait_for(loading, "the load begins")
        client.kill()
        client.wait()
        net.wait_for(lambda: self.answered(daemon, "PreloadSRS", "CANCELLED") == 1, "the call ends", seconds=60)
        self.assertTrue(loading())
        daemon.tell("release")
        net.wait_for(lambda: daemon.control("--json", "preload", "winning-2k").json()["already_loaded"], "it is loaded")

    def state(self, daemon, name):
        answer = daemon.control("--json", "await", name, "--timeout", "1ms")
        return answer.json().get("status", "unknown")

    def test_the_clients_deadline_ends_the_job(self):
        daemon = self.start()
        daemon.tell("hold")

        def failed():
            # Where the deadline passes before the daemon has the request, there is no job: once more.
            answer = net.client(MODULES, "deadline", daemon.address, requests("winning")[0], "late", "1500")
            self.assertEqual(answer["code"], "DEADLINE_EXCEEDED", answer)
            net.wait_for(lambda: self.state(daemon, "late") != "TIMEOUT", "it has ended, or never was")
            return self.state(daemon, "late") == "FAILED"

        net.wait_for(failed, "the deadline ends the job")
        self.assertIn("deadline", daemon.control("await", "late").err + daemon.control("--json", "await", "late").out)

    def test_a_client_that_goes_cancels_only_where_that_is_set(self):
        for flags, state in (((), "TIMEOUT"), (("--jobs.cancel_abandoned", "true"), "CANCELLED")):
            with self.subTest(flags=flags):
                daemon = self.start(*flags)
                daemon.tell("hold")
                client = subprocess.Popen(["node", str(net.CLIENT), "leave", daemon.address, str(requests("winning")[0]), "left"],
                                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                          env={**fixture.clean_environment(), "GRPCJS_MODULES": str(MODULES)})
                net.wait_for(lambda: self.state(daemon, "left") == "TIMEOUT", "the job is there")
                self.assertEqual(json.loads(client.communicate("now\n", timeout=600)[0])["code"], "CANCELLED")
                if flags:
                    net.wait_for(lambda: self.state(daemon, "left") == state, "the job is cancelled")
                else:
                    net.wait_for(lambda: self.answered(daemon, "Prove", "CANCELLED") == 1, "the daemon has ended the call")
                    self.assertEqual(self.state(daemon, "left"), state)
                    daemon.tell("release")
                    self.assertEqual(daemon.control("await", "left").code, 0)
                daemon.tell("release")

    # Health.

    def test_watchers_hear_that_it_stops_for_good(self):
        daemon = self.start()
        daemon.tell("hold")
        self.assertEqual(daemon.control("submit", "--request", requests("winning")[0], "--id", "last").code, 0)
        watchers = {name: subprocess.Popen(["node", str(net.CLIENT), "follow", daemon.address, name], text=True,
                                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                           env={**fixture.clean_environment(), "GRPCJS_MODULES": str(MODULES)})
                    for name in ("", "winning")}
        for watcher in watchers.values():
            self.assertEqual(json.loads(watcher.stdout.readline())["status"], "SERVING")
        daemon.wait_until_held()
        daemon.terminate()
        for watcher in watchers.values():
            self.assertEqual(json.loads(watcher.stdout.readline())["status"], "NOT_SERVING")
        self.assertEqual(net.client(MODULES, "health", daemon.address, "porep")["check"], "NOT_SERVING")
        refused = daemon.control("prove", "--request", requests("winning")[0], "--id", "later")
        self.assertEqual(refused.code, 3, refused)
        daemon.tell("release")
        self.assertEqual(daemon.process.wait(timeout=600), 0, daemon.log())
        for watcher in watchers.values():
            rest = [json.loads(line)["status"] for line in watcher.stdout.read().splitlines()]
            self.assertLessEqual(set(rest), {"NOT_SERVING"})
            watcher.wait()
            watcher.stdout.close()

    def test_reflection_can_be_turned_off(self):
        daemon = self.start("--grpc.reflection", "false")
        answer = fixture.run("node", net.CLIENT, "services", daemon.address, environment={"GRPCJS_MODULES": str(MODULES)})
        self.assertNotIn("ProvingEngine", answer.out)
        self.assertEqual(net.client(MODULES, "health", daemon.address, "")["check"], "SERVING")

    # Sockets.

    def test_the_sockets_mode_is_given_when_it_is_made(self):
        for mode in ("0600", "0660", "0666"):
            daemon = self.start("--listen_mode", mode)
            self.assertEqual(stat.S_IMODE(os.stat(daemon.socket).st_mode), int(mode, 8))

    def test_a_path_that_no_socket_can_have_is_refused(self):
        answer = fixture.run(fixture.BIN / "cuzkd", "--check-config", "--listen", "unix:/" + "a" * 107)
        self.assertEqual(answer.code, 78)
        self.assertIn("107 bytes", answer.err)

    def test_several_addresses_at_once(self):
        folder = net.folder_for(self)
        port = net.free_port()
        self.start("--listen", f"unix:{folder}/a,unix:{folder}/b,127.0.0.1:{port}")
        for address in (f"unix:{folder}/a", f"unix://{folder}/b", f"127.0.0.1:{port}"):
            self.assertEqual(fixture.control("--address", address, "status").code, 0)

    def test_two_daemons_do_not_share_a_port(self):
        port = net.free_port()
        self.start("--listen", f"127.0.0.1:{port}")
        second = fixture.run(fixture.BIN / "cuzkd", "--listen", f"127.0.0.1:{port}", "--http.listen", "",
                             "--devices.use", "cpu", "--jobs.state_directory", "")
        self.assertEqual(second.code, 75, second)
        self.assertIn(f"listen: cannot listen on 127.0.0.1:{port}: process ", second.err)


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    MODULES = sys.argv[4]
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
