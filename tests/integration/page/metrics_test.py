#!/usr/bin/env python3
"""What the daemon says about itself: /metrics as Prometheus reads it and as board and alerts use it, /status and GetStatus
as Curio reads them.

Usage: metrics_test.py BIN VECTORS PARAMETERS ROOT
"""

import json
import pathlib
import re
import subprocess
import sys
import unittest
import urllib.request

import daemon_fixture as fixture
import net_fixture as net
from daemon_fixture import requests
from alerts_test import NOT_OURS

ROOT = None
# Only where there is a certificate, or a card: tests of TLS and of Xids look at them.
ELSEWHERE = {"cuzk_tls_certificate_expiry_timestamp_seconds", "cuzk_gpu_xid_total"}
# What may stand in a label: kinds, stages, devices, circuits, methods and codes, classes, and what is built in.
BOUNDED = {"proof_kind", "stage", "class", "circuit", "gpu", "gpu_uuid", "name", "driver", "cc", "grpc_method", "grpc_code",
           "version", "revision", "cuda", "arch", "compiler", "le", "direction", "reason"}


def used_expressions():
    """Every expression of the board and of the alerts, with where it stands."""
    def walk(node):
        if isinstance(node, dict):
            if isinstance(node.get("expr"), str):
                yield f"board, {node.get('title', node.get('refId', '?'))}", node["expr"]
            for value in node.values():
                yield from walk(value)
        elif isinstance(node, list):
            for value in node:
                yield from walk(value)
    yield from walk(json.loads((ROOT / "config/grafana.json").read_text()))
    text = (ROOT / "config/alerts.yml").read_text()
    for name, expression in re.findall(r"- alert: (\w+)\n\s+expr: (.*?)\n\s+(?:for|labels):", text, re.S):
        yield f"alert {name}", expression


def metrics_of(expression):
    """(name, labels that it selects by) of each metric in an expression."""
    for name, inside in re.findall(r"\b((?:cuzk|process)_\w+|up)(?:\{([^}]*)\})?", expression):
        yield name, set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", inside))


class Metrics(fixture.DaemonTest):
    KIND = net.FaultyDaemon

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.daemon.http_port()}{path}") as answer:
            return answer.read().decode()

    def live(self):
        """name -> its label names; values by series."""
        names, values = {}, {}
        for line in self.get("/metrics").splitlines():
            if line.startswith("#"):
                continue
            series, value = line.rsplit(" ", 1)
            values[series] = float(value)
            name, _, inside = series.rstrip("}").partition("{")
            names.setdefault(name, set()).update(re.findall(r'(\w+)="', inside))
        return names, values

    def prove_and_be_refused(self):
        self.prove_and_verify(requests("winning")[0])
        self.assertEqual(self.daemon.control("await", "nobody").code, 6)

    def test_the_page_of_metrics_is_what_the_program_prints(self):
        printed = fixture.run(fixture.BIN / "cuzkd", "--print-metrics")
        self.assertEqual(printed.code, 0, printed)
        self.assertEqual((ROOT / "docs/METRICS.md").read_text(), printed.out,
                         "run: build/release/bin/cuzkd --print-metrics > docs/METRICS.md")
        for name in self.live()[0]:
            self.assertIn(f"`{re.sub('_(bucket|sum|count)$', '', name) if 'seconds_' in name else name}`", printed.out)

    def test_promtool_has_nothing_against_it(self):
        self.prove_and_be_refused()
        done = subprocess.run(["promtool", "check", "metrics"], input=self.get("/metrics"), capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_everything_that_board_and_alerts_use_is_there(self):
        self.prove_and_be_refused()
        names, _ = self.live()
        expressions = list(used_expressions())
        self.assertGreater(len(expressions), 50)
        for place, expression in expressions:
            for name, labels in metrics_of(expression):
                if name in NOT_OURS | ELSEWHERE:
                    continue
                with self.subTest(place=place, metric=name):
                    self.assertIn(name, names)
                    self.assertLessEqual(labels - {"job", "instance"}, names[name])
        self.assertLessEqual(ELSEWHERE, {name for _, expression in expressions for name, _ in metrics_of(expression)})

    def test_labels_are_bounded(self):
        hostile = 'winpost-1000-"}\n evil{a="b"} 1'
        self.assertEqual(self.daemon.control("prove", "--request", requests("winning")[0], "--id", hostile).code, 0)
        names, _ = self.live()
        self.assertNotIn("evil", self.get("/metrics"))
        for name, labels in names.items():
            self.assertLessEqual(labels, BOUNDED, name)

    def test_counters_go_up_alone(self):
        self.prove_and_be_refused()
        _, before = self.live()
        self.prove_and_be_refused()
        _, after = self.live()
        for series, value in before.items():
            if re.match(r"\w+_(total|count|bucket|sum)\b", series):
                self.assertGreaterEqual(after[series], value, series)
        proved = 'cuzk_proof_duration_seconds_count{proof_kind="winning_post"}'
        self.assertEqual(after[proved], before[proved] + 1)
        busy = next(series for series in after if series.startswith("cuzk_gpu_busy_seconds_total"))
        self.assertGreater(after[busy], before[busy])

    def counts(self, status):
        counters = status["counters"]
        return sum(counters["pending_by_kind"].values()) + sum(counters["in_progress_by_kind"].values())

    def test_S07_every_accepted_and_unfinished_job_is_counted_once(self):
        request = requests("winning")[0]
        names = [f"counted {i}" for i in range(3)]
        self.daemon.tell("hold")
        for name in names + names[:1]:  # one of them twice: the same job
            self.assertEqual(self.daemon.control("submit", "--request", request, "--id", name).code, 0)
        status = json.loads(self.get("/status"))
        unfinished = [job for job in status["pipelines"] if job["finished_secs_ago"] is None]
        self.assertEqual(self.counts(status), len(unfinished))
        self.assertEqual(len(unfinished), 3)
        self.assertEqual({job["job_id"] for job in unfinished}, set(names))
        # Curio sums what GetStatus lists, whatever the kind.
        queues = self.daemon.control("--json", "status").json()["queues"]
        self.assertEqual(sum(queue["pending"] + queue["in_progress"] for queue in queues), 3)
        self.daemon.tell("release")
        for name in names:
            self.assertEqual(self.daemon.control("await", name).code, 0)
        self.assertEqual(self.counts(json.loads(self.get("/status"))), 0)

    def test_S07_memory_and_parameters_are_told(self):
        self.prove_and_verify(requests("winning")[0])
        status = json.loads(self.get("/status"))
        srs = {entry["circuit_id"]: entry for entry in status["allocations"]["srs"]}["winning-2k"]
        told = self.daemon.control("--json", "status").json()
        wire = {entry["circuit_id"]: entry for entry in told["loaded_srs"]}["winning-2k"]
        self.assertEqual(int(wire["size_bytes"]), srs["bytes"])
        self.assertGreater(srs["bytes"], 0)
        self.assertGreaterEqual(srs["last_used_secs_ago"], 0)
        later = json.loads(self.get("/status"))
        again = {entry["circuit_id"]: entry for entry in later["allocations"]["srs"]}["winning-2k"]
        self.assertGreater(again["last_used_secs_ago"], srs["last_used_secs_ago"])
        self.assertTrue(again["evictable"])
        self.assertEqual((again["ref_count"], int(wire["ref_count"])), (0, 0))
        held = sum(device["pool_total_bytes"] for device in status["devices"])
        self.assertGreater(held, 0)
        self.assertEqual(int(told["pinned_memory_bytes"]), held)
        self.assertEqual(int(told["pinned_memory_limit_bytes"]), status["memory"]["total_bytes"])
        memory = status["memory"]
        self.assertEqual(sum(memory["used_by_class"].values()), memory["used_bytes"])
        self.assertEqual(memory["used_by_class"]["pinned"], held)
        self.assertEqual(memory["total_bytes"] - memory["used_bytes"], memory["available_bytes"])

    def test_S07_parameters_in_use_have_users(self):
        self.daemon.tell("hold")
        self.assertEqual(self.daemon.control("submit", "--request", requests("winning")[0], "--id", "user").code, 0)
        self.daemon.wait_until_held()
        status = json.loads(self.get("/status"))
        self.assertIn("user", [worker["current_job"] for worker in status["gpu_workers"]])
        srs = {entry["circuit_id"]: entry for entry in status["allocations"]["srs"]}["winning-2k"]
        self.assertEqual((srs["ref_count"], srs["last_used_secs_ago"], srs["evictable"]), (1, 0, False))
        self.daemon.tell("release")
        self.assertEqual(self.daemon.control("await", "user").code, 0)


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    ROOT = pathlib.Path(sys.argv[4])
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
