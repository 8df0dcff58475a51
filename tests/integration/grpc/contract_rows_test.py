#!/usr/bin/env python3
"""Traps of the contract with callers, each by a number that tests elsewhere name too. More tests of them: S01, S07,
S09 in daemon_test.py, S02, S03, S05, S16 in refusal_test.py, S06 in grpcjs_test.py, S10 in
operation_test.py.

Usage: contract_rows_test.py BIN VECTORS PARAMETERS MODULES
"""

import base64
import contextlib
import json
import os
import pathlib
import shutil
import sqlite3
import sys
import threading
import unittest

import daemon_fixture as fixture
import net_fixture as net
from daemon_fixture import change_request, requests, run

MODULES = None
MIB = 1 << 20
TINY_JOBS = int(os.environ.get("CUZK_TINY_JOBS", "5000"))


def resident(daemon, field="VmRSS"):
    status = pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith(field)).split()[1]) << 10


class Rows(unittest.TestCase):

    def setUp(self):
        self.folder = net.folder_for(self)

    def start(self, *flags, **options):
        daemon = net.FaultyDaemon(*flags, **options)
        self.addCleanup(daemon.close)
        return daemon

    def copy_of(self, request):
        target = self.folder / "request"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(request, target)
        return target

    def call(self, daemon, method, message):
        return net.client(MODULES, "call", daemon.address, method, json.dumps(message))

    def test_S01_one_id_two_payloads_two_proofs_one_payload_one_execution(self):
        daemon = self.start("--devices.workers", "1")
        daemon.tell("hold")
        first, second = requests("porep")[:2]
        answers = {}

        def prove(name, request):
            answers[name] = (daemon.control("prove", "--request", request, "--id", "porep-1000-1", "--out",
                                            self.folder / name), request)

        callers = [threading.Thread(target=prove, args=row) for row in
                   (("a", first), ("b", second), ("c", first))]
        for caller in callers:
            caller.start()
        daemon.wait_until_held()
        net.wait_for(lambda: len(json.loads(net.http_get(daemon, "/status")[1])["pipelines"]) == 2 and
                     net.metrics(daemon)["cuzk_jobs_joined_total"] == 1, "two executions for three callers")
        daemon.tell("release")
        for caller in callers:
            caller.join()
        counters = json.loads(net.http_get(daemon, "/status")[1])["counters"]
        self.assertEqual(counters["completed_by_kind"]["porep-c2"], 2)
        for name, (answer, request) in answers.items():
            self.assertEqual(answer.code, 0, answer)
            verified = fixture.control("verify", "--request", request, "--proof", self.folder / name,
                                       environment={"CUZK_PARAMS_DIRECTORY": str(fixture.PARAMS)})
            self.assertEqual(verified.code, 0, verified)
        self.assertEqual((self.folder / "a").read_bytes(), (self.folder / "c").read_bytes())
        self.assertNotEqual((self.folder / "a").read_bytes(), (self.folder / "b").read_bytes())

    def test_S02_ids_of_window_posts_stay_out_of_labels_and_files(self):
        daemon = self.start("--log.format", "json")
        name = "wdpost-1000-0-[18 52 86 120 154 188 222 240]"
        self.assertEqual(daemon.control("prove", "--request", requests("window")[0], "--id", name).code, 0)
        self.assertNotIn("wdpost", net.http_get(daemon, "/metrics")[1])
        for _, folders, files in os.walk(daemon.folder):
            self.assertFalse([entry for entry in folders + files if "wdpost" in entry or "[" in entry])
        self.assertIn(name, [json.loads(line).get("job_id") for line in daemon.log().splitlines()])

    def test_S03_market_snaps_send_no_sector_size(self):
        daemon = self.start()
        folder = self.copy_of(requests("snap")[0])
        change_request(folder, sector_size=0)
        self.assertEqual(daemon.control("prove", "--request", folder).code, 0)
        change_request(folder, sector_size=1 << 35)
        self.assertEqual(daemon.control("prove", "--request", folder).code, 6)

    def test_S04_a_corrupted_proof_never_leaves_as_completed(self):
        daemon = self.start()
        for kind in ("snap", "winning", "window"):
            with self.subTest(kind=kind):
                request = requests(kind)[0]
                daemon.tell("corrupt 1000")
                proof = self.folder / "proof"
                failed = daemon.control("--json", "prove", "--request", request, "--id", kind, "--out", proof)
                self.assertEqual((failed.code, failed.json().get("status", "FAILED")), (1, "FAILED"), failed)
                self.assertFalse(proof.exists())
                # Once only: proved again and right.
                daemon.tell("corrupt 1")
                self.assertEqual(daemon.control("prove", "--request", request, "--id", kind, "--out", proof).code, 0)
                verified = fixture.control("verify", "--request", request, "--proof", proof,
                                           environment={"CUZK_PARAMS_DIRECTORY": str(fixture.PARAMS)})
                self.assertEqual(verified.code, 0, verified)
                proof.unlink()
                daemon.tell("corrupt 0")
        refused = net.metrics(daemon)["cuzk_partitions_refused_total"]
        self.assertGreaterEqual(refused, 6)

    def test_S05_GetStatus_needs_no_device(self):
        daemon = self.start(environment={"FAULTY_CUZKD_HOLD_LOADS": "1"})
        daemon.tell("hold")
        self.assertEqual(daemon.control("submit", "--request", requests("winning")[0], "--id", "loading").code, 0)
        status = self.call(daemon, "GetStatus", {})  # while the device is stuck
        self.assertEqual(sum(int(queue["pending"]) + int(queue["in_progress"]) for queue in status["queues"]), 1)
        # Nor does anything else that only looks.
        samples = net.metrics(daemon)
        self.assertEqual(samples["cuzk_running_jobs"] + samples["cuzk_queue_depth"], 1)
        self.assertIn("cuzk_running_jobs", self.call(daemon, "GetMetrics", {})["prometheus_text"])
        for path in ("/status", "/timeline", "/trace", "/healthz", "/readyz"):
            self.assertEqual(net.http_get(daemon, path)[0], 200, path)
        daemon.tell("release")
        self.assertEqual(daemon.control("await", "loading").code, 0)

    def test_S06_each_refusal_has_its_own_code(self):
        daemon = self.start("--jobs.queue", "1")
        self.assertEqual(self.call(daemon, "Prove", {"submit": {"proof_kind": 9}})["code"], "INVALID_ARGUMENT")
        # Those that the engine never sees are counted as well.
        self.assertEqual(self.call(daemon, "Prove", {})["code"], "INVALID_ARGUMENT")
        long = {"proof_kind": 1, "randomness": "A" * 88}
        self.assertEqual(self.call(daemon, "SubmitProof", long)["code"], "INVALID_ARGUMENT")
        self.assertEqual(net.metrics(daemon)["cuzk_jobs_refused_total"], 3)
        daemon.tell("hold")
        request = requests("window")[0]  # a WinningPoSt has a reserve
        self.assertEqual(daemon.control("submit", "--request", request, "--id", "one").code, 0)
        full = net.client(MODULES, "prove", daemon.address, request, self.folder / "p", json.dumps({"request_id": "two"}))
        self.assertEqual(full["code"], "RESOURCE_EXHAUSTED", full)
        daemon.wait_until_held()
        daemon.terminate()
        net.wait_for(lambda: "draining" in daemon.log())
        draining = net.client(MODULES, "prove", daemon.address, request, self.folder / "p", json.dumps({"request_id": "two"}))
        self.assertEqual(draining["code"], "UNAVAILABLE", draining)
        daemon.tell("release")
        self.assertEqual(daemon.process.wait(timeout=600), 0)

    def test_S07_what_was_a_stub_works(self):
        daemon = self.start()
        daemon.tell("hold")
        request = requests("snap")[0]
        self.assertEqual(daemon.control("submit", "--request", request, "--id", "long").code, 0)
        daemon.wait_until_held()
        late = self.call(daemon, "AwaitProof", {"job_id": "long", "timeout_ms": 200})
        self.assertEqual(late["status"], "TIMEOUT")
        status = self.call(daemon, "GetStatus", {})
        queue = [q for q in status["queues"] if q["proof_kind"] == "snap-update"]
        self.assertEqual([(q["pending"], q["in_progress"]) for q in queue], [(0, 1)])  # one job, not its partitions
        loaded = status["loaded_srs"][0]
        self.assertGreater(int(loaded["size_bytes"]), 0)
        self.assertGreater(int(loaded["ref_count"]), 0)
        self.assertGreater(int(status["pinned_memory_bytes"]), 0)
        self.assertGreater(int(status["pinned_memory_limit_bytes"]), 0)
        self.assertEqual(self.call(daemon, "EvictSRS", {"circuit_id": "snap-2k"})["code"], "FAILED_PRECONDITION")
        self.assertTrue(self.call(daemon, "CancelProof", {"job_id": "long"})["was_running"])
        self.assertEqual(self.call(daemon, "AwaitProof", {"job_id": "long"})["status"], "CANCELLED")
        daemon.tell("release")
        evicted = net.wait_for(lambda: self.call(daemon, "EvictSRS", {"circuit_id": "snap-2k"}).get("was_loaded"))
        self.assertTrue(evicted)

    def tiny(self, i=""):
        return json.dumps({"submit": {"proof_kind": "WINNING_POST", "registered_proof": 0, "miner_id": 1000,
                                      "request_id": i, "vanilla_proofs": [base64.b64encode(b"no").decode()],
                                      "randomness": base64.b64encode(bytes(32)).decode()}})

    def flood(self, count):
        daemon = self.start("--jobs.results", "100", "--jobs.state_directory", "")
        seen = net.client(MODULES, "flood", daemon.address, "Prove", "2000", self.tiny())
        self.assertEqual(sum(seen.values()), 2000, seen)
        baseline = resident(daemon)
        seen = net.client(MODULES, "flood", daemon.address, "Prove", str(count), self.tiny())
        self.assertEqual(sum(seen.values()), count, seen)
        self.assertLess(resident(daemon), baseline * 1.05 + 4 * MIB)
        status = json.loads(net.http_get(daemon, "/status")[1])
        self.assertLessEqual(len(status["pipelines"]), 100)

    def test_S08_ended_jobs_are_bounded(self):
        self.flood(TINY_JOBS)

    def test_S08_ended_jobs_are_bounded_on_disk_too(self):
        daemon = self.start("--jobs.results", "100")
        seen = net.client(MODULES, "flood", daemon.address, "Prove", "300", self.tiny())
        self.assertEqual(sum(seen.values()), 300, seen)
        state = daemon.folder / "state"

        def rows():
            with contextlib.closing(sqlite3.connect(state / "jobs.sqlite")) as database:
                return database.execute("SELECT count(*) FROM jobs").fetchone()[0]

        net.wait_for(lambda: rows() <= 100, "rows of the results that are kept alone")
        self.assertFalse(list(state.glob("*.payload*")))
        self.assertLess(sum(path.stat().st_size for path in state.iterdir()), 16 * MIB)

    def test_S09_sigterm_takes_nothing_more_and_ends_what_runs(self):
        daemon = self.start()
        daemon.tell("hold")
        answers = []
        caller = threading.Thread(target=lambda: answers.append(
            daemon.control("prove", "--request", requests("winning")[0], "--out", self.folder / "p")))
        caller.start()
        daemon.wait_until_held()
        daemon.terminate()
        net.wait_for(lambda: "draining" in daemon.log())
        self.assertEqual(daemon.control("prove", "--request", requests("window")[0]).code, 3)
        self.assertIsNone(daemon.process.poll())
        daemon.tell("release")
        caller.join()
        self.assertEqual((answers[0].code, daemon.process.wait(timeout=600)), (0, 0), answers)

    def test_S11_one_budget_holds_ingress_and_pool(self):
        daemon = self.start("--memory.budget", "3GiB", "--grpc.ingress_memory", "1GiB")
        self.assertIn("memory budget 3072 MiB, of which 1024 MiB are for messages that are being received", daemon.log())
        self.assertEqual(net.metrics(daemon)["cuzk_memory_budget_bytes"], 2 << 30)
        daemon.tell("hold")
        self.assertEqual(daemon.control("submit", "--request", requests("winning")[0], "--id", "held").code, 0)
        daemon.wait_until_held()
        samples = net.metrics(daemon)
        used = {name: value for name, value in samples.items() if name.startswith("cuzk_memory_used_bytes")}
        self.assertGreaterEqual(used['cuzk_memory_used_bytes{class="pinned"}'], samples["cuzk_pinned_pool_total_bytes"])
        self.assertGreater(used['cuzk_memory_used_bytes{class="parameters"}'], 0)
        self.assertLessEqual(sum(used.values()), samples["cuzk_memory_budget_bytes"])
        daemon.tell("release")

    def test_S12_every_registered_proof_finds_its_circuit_or_is_named(self):
        empty = self.folder / "empty"
        empty.mkdir()
        daemon = self.start(params=empty)
        circuits = [json.loads(line) for line in fixture.control("--json", "circuit", "list").out.splitlines()]
        file_of = {circuit["circuit_id"]: circuit["params"] for circuit in circuits}
        sizes = ("2k", "8m", "512m", "32g", "64g")
        post = [base64.b64encode(bytes(8)).decode()]
        randomness = base64.b64encode(bytes(32)).decode()
        common = {"miner_id": 1000, "sector_number": 1, "vanilla_proofs": post, "randomness": randomness}
        snap = {**common, "comm_r_old": randomness, "comm_r_new": randomness, "comm_d_new": randomness}
        rows = [("WINNING_POST", n, f"winning-{sizes[n]}") for n in range(5)]
        rows += [("WINNING_POST", n, None) for n in range(5, 16)]
        rows += [("WINDOW_POST_PARTITION", n, None) for n in (*range(5), 15)]
        rows += [("WINDOW_POST_PARTITION", n, f"wpost-{sizes[n % 5]}") for n in range(5, 15)]
        rows += [("SNAP_DEALS_UPDATE", n, f"snap-{sizes[n]}") for n in range(5)] + [("SNAP_DEALS_UPDATE", 5, None)]
        messages = []
        for kind, number, _ in rows:
            message = {**(snap if kind.startswith("SNAP") else common), "proof_kind": kind, "registered_proof": number}
            if kind.startswith("SNAP"):
                message["vanilla_proofs"] = post * {0: 1, 1: 4}.get(number, 16)  # partitions, by size
            messages.append(message)
        path = self.folder / "messages"
        path.write_text(json.dumps(messages))
        answers = net.client(MODULES, "calls", daemon.address, "SubmitProof", path)
        self.assertEqual(len(answers), len(rows))
        for (kind, number, circuit), answer in zip(rows, answers):
            with self.subTest(kind=kind, registered_proof=number):
                if circuit is None:
                    self.assertEqual(answer.get("code"), "INVALID_ARGUMENT", answer)
                    self.assertIn(str(number), answer["message"])
                else:
                    self.assertEqual(answer.get("code"), "FAILED_PRECONDITION", answer)
                    self.assertIn(file_of[circuit], answer["message"])

    def test_S13_the_incumbents_keys_are_refused_like_any_unknown_key(self):
        file = self.folder / "cuzkd.toml"
        for text in ('[srs]\npreload = ["porep-32g"]\n', "[synthesis]\npartition_workers = 20\n"):
            file.write_text(text)
            answer = run(fixture.BIN / "cuzkd", "--check-config", "--config", file)
            self.assertEqual(answer.code, 78)
            self.assertRegex(answer.err, r"cuzkd\.toml:[12]: there is no (section|setting)")

    def test_S14_ten_large_c1_in_little_more_than_their_own_size(self):
        daemon = self.start("--jobs.state_directory", "", "--memory.budget", "12GiB")
        self.assertEqual(daemon.control("prove", "--request", requests("winning")[0]).code, 0)
        before = resident(daemon)
        pathlib.Path(f"/proc/{daemon.process.pid}/clear_refs").write_text("5")  # the peak begins anew
        seen = net.client(MODULES, "many", daemon.address, str(50 * MIB), "10")
        self.assertEqual(sum(seen.values()), 10, seen)
        self.assertIn("FAILED", seen)
        self.assertLess(resident(daemon, "VmHWM") - before, 3 * 10 * 50 * MIB)

    def test_S15_parameters_are_compared_with_their_digest(self):
        record = json.loads((fixture.VECTORS.parent / "groth16" / "winning-2KiB.json").read_text())
        changed = self.folder / "params"
        changed.mkdir()
        for path in fixture.PARAMS.glob(pathlib.Path(record["file_name"]).stem + "*"):
            shutil.copy(path, changed)
        target = changed / record["file_name"]
        content = bytearray(target.read_bytes())
        content[-1] ^= 1
        target.chmod(0o644)
        target.write_bytes(content)
        daemon = self.start(params=changed)
        answer = daemon.control("--json", "prove", "--request", requests("winning")[0])
        self.assertIn(answer.code, (1, 7), answer)
        self.assertIn(record["file_name"], answer.out + answer.err)

    def test_S16_sectors_beyond_the_partition_are_refused_and_fewer_are_padded(self):
        daemon = self.start()
        few = [r for r in requests("window") if len(json.loads((r / "request.json").read_text())["sectors"]) == 1]
        self.assertTrue(few)
        self.assertEqual(daemon.control("prove", "--request", few[0]).code, 0)
        randomness = base64.b64encode(bytes(32)).decode()
        for number, most in ((5, 2), (8, 2349), (13, 2349)):
            items = [base64.b64encode(i.to_bytes(8, "little")).decode() for i in range(most + 1)]
            # An item begins with the length of its sector list and the id.
            items = [base64.b64encode((1).to_bytes(8, "little") + i.to_bytes(8, "little")).decode()
                     for i in range(most + 1)]
            message = {"proof_kind": "WINDOW_POST_PARTITION", "registered_proof": number, "miner_id": 1000,
                       "randomness": randomness, "vanilla_proofs": items}
            path = self.folder / "message"
            path.write_text(json.dumps(message))
            answer = net.client(MODULES, "call", daemon.address, "SubmitProof", f"@{path}")
            self.assertEqual(answer.get("code"), "INVALID_ARGUMENT", answer)
            self.assertIn(str(most), answer["message"])

    def test_a_priority_outside_the_enum_means_normal(self):
        daemon = self.start()
        daemon.tell("hold")
        request, callers = requests("winning")[0], []
        for priority, meant in ((1, "low"), (5, "normal"), (-1, "normal")):
            name = f"priority {priority}"
            callers.append(threading.Thread(daemon=True, target=net.client, args=(
                MODULES, "prove", daemon.address, request, self.folder / name,
                json.dumps({"request_id": name, "priority": priority}))))
            callers[-1].start()

            def seen():
                jobs = json.loads(net.http_get(daemon, "/status")[1])["pipelines"]
                return [job["priority"] for job in jobs if job["job_id"] == name]

            self.assertEqual(net.wait_for(seen), [meant])
        daemon.tell("release")
        for caller in callers:
            caller.join()

    def test_legacy_metrics_only_where_that_is_set(self):
        for flags, there in (((), False), (("--legacy_metrics", "true"), True)):
            daemon = self.start(*flags)
            self.assertEqual(daemon.control("prove", "--request", requests("winning")[0]).code, 0)
            for text in (net.http_get(daemon, "/metrics")[1], self.call(daemon, "GetMetrics", {})["prometheus_text"]):
                lines = text.splitlines()
                self.assertIn('cuzk_proofs_completed_total{proof_kind="winning_post"} 1', lines)
                self.assertEqual('cuzk_proofs_completed{proof_kind="winning_post"} 1' in lines, there)
                self.assertEqual('cuzk_proofs_failed{proof_kind="porep_c2"} 0' in lines, there)
                for name in ("cuzk_uptime_seconds", "cuzk_queue_depth", "cuzk_running_jobs", "cuzk_gpu_workers"):
                    self.assertTrue(any(line.startswith(f"{name} ") for line in lines), name)


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    MODULES = sys.argv[4]
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
