#!/usr/bin/env python3
"""The alert rules and the board: Prometheus' own tool reads them, every alert fires when it should and only then, has a
section in the handbook, and uses only metrics that exist.

Usage: alerts_test.py BIN VECTORS PARAMETERS ROOT
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = None

# For each alert: the series that make it fire, the labels that it then has, and series that are nearly as bad.
# Notation of promtool: "3+2x5" is 3, 5, 7, 9, 11, 13; "7x5" is six times 7. One value a minute; looked at after 60.
SERIES = {
    "CuzkdDown": ([("up", "0x60")], {}, [("up", "1x54 0 1x5")]),
    "CuzkdRestarts": ([("process_start_time_seconds", "1000x20 2000x15 3000x10 4000x20")], {},
                      [("process_start_time_seconds", "1000x20 2000x15 3000x30")]),
    "CuzkdNotReady": ([("cuzk_ready", "0x60")], {}, [("cuzk_ready", "1x51 0x9")]),
    "CuzkdSchedulerStalled": ([("cuzk_scheduler_turns_total", "0+60x45 2700x20")], {},
                              [("cuzk_scheduler_turns_total", "0+1x60")]),
    "CuzkdNoDevice": ([("cuzk_devices_usable", "1x50 0x10")], {}, [("cuzk_devices_usable", "0x59 1")]),
    "CuzkdProvesOnCpu": ([("cuzk_device_fallback_to_cpu", "0x50 1x10")], {},
                         [("cuzk_device_fallback_to_cpu", "0x56 1x4")]),
    "CuzkdGpuLost": ([('cuzk_gpu_healthy{gpu="1",gpu_uuid="GPU-2"}', "1x50 0x10"),
                      ('cuzk_gpu_healthy{gpu="0",gpu_uuid="GPU-1"}', "1x60")], {"gpu": "1", "gpu_uuid": "GPU-2"},
                     [('cuzk_gpu_healthy{gpu="0",gpu_uuid="GPU-1"}', "1x60")]),
    "CuzkdGpuQuarantined": ([('cuzk_gpu_quarantined{gpu="1",gpu_uuid="GPU-2"}', "0x50 1x10"),
                             ('cuzk_gpu_quarantined{gpu="0",gpu_uuid="GPU-1"}', "0x60")],
                            {"gpu": "1", "gpu_uuid": "GPU-2"},
                            [('cuzk_gpu_quarantined{gpu="1",gpu_uuid="GPU-2"}', "0x60"),
                             ('cuzk_gpu_doubted{gpu="1",gpu_uuid="GPU-2"}', "1x60")]),
    "CuzkdGpuDoubted": ([('cuzk_gpu_doubted{gpu="1",gpu_uuid="GPU-2"}', "0x50 1x10")],
                        {"gpu": "1", "gpu_uuid": "GPU-2"},
                        [('cuzk_gpu_doubted{gpu="1",gpu_uuid="GPU-2"}', "0x60"),
                         ('cuzk_gpu_quarantined{gpu="1",gpu_uuid="GPU-2"}', "1x60")]),
    "CuzkdGpuXid": ([('cuzk_gpu_xid_total{gpu="1",gpu_uuid="GPU-2"}', "0x30 1x30"),
                     ('cuzk_gpu_xid_total{gpu="0",gpu_uuid="GPU-1"}', "0x60")], {"gpu": "1", "gpu_uuid": "GPU-2"},
                    [('cuzk_gpu_xid_total{gpu="1",gpu_uuid="GPU-2"}', "5x60")]),
    "CuzkdDeviceErrors": ([("cuzk_device_errors_total", "0x50 4x10")], {}, [("cuzk_device_errors_total", "0x50 2x10")]),
    "CuzkdWrongProof": ([("cuzk_partitions_refused_total", "0x30 1x30")], {},
                        [("cuzk_partitions_refused_total", "5x60")]),
    "CuzkdProofsFailing": ([('cuzk_proofs_failed_total{proof_kind="porep_c2"}', "0x40 0+1x20"),
                            ('cuzk_proofs_completed_total{proof_kind="porep_c2"}', "0+1x60")], {"proof_kind": "porep_c2"},
                           # Four of two hundred, and three of three.
                           [('cuzk_proofs_failed_total{proof_kind="porep_c2"}', "0x40 4x20"),
                            ('cuzk_proofs_completed_total{proof_kind="porep_c2"}', "0+7x60"),
                            ('cuzk_proofs_failed_total{proof_kind="snap_update"}', "0x40 3x20"),
                            ('cuzk_proofs_completed_total{proof_kind="snap_update"}', "0x60")]),
    "CuzkdWinningPostSlow": ([('cuzk_proof_duration_seconds_count{proof_kind="winning_post"}', "100x20 101x40"),
                              ('cuzk_proof_duration_seconds_bucket{proof_kind="winning_post",le="18"}', "100x60")],
                             {"proof_kind": "winning_post"},
                             [('cuzk_proof_duration_seconds_count{proof_kind="winning_post"}', "100x20 101x40"),
                              ('cuzk_proof_duration_seconds_bucket{proof_kind="winning_post",le="18"}', "98x20 99x40"),
                              ('cuzk_oldest_job_age_seconds{proof_kind="winning_post"}', "18x60"),
                              ('cuzk_oldest_job_age_seconds{proof_kind="porep_c2"}', "900x60")]),
    "CuzkdWindowPostLate": ([('cuzk_oldest_job_age_seconds{proof_kind="window_post"}', "0x38 0+60x21")],
                            {"proof_kind": "window_post"},
                            [('cuzk_oldest_job_age_seconds{proof_kind="window_post"}', "0x39 0+60x20"),
                             ('cuzk_oldest_job_age_seconds{proof_kind="porep_c2"}', "0+60x60")]),
    "CuzkdJobsStuck": ([("cuzk_partitions_proved_total", "0+1x10 10x50"), ("cuzk_running_jobs", "1x60")], {},
                       # Nothing runs, or the last partition is not so long ago.
                       [("cuzk_partitions_proved_total", "0+1x40 40x20"), ("cuzk_running_jobs", "1x60"),
                        ('cuzk_partitions_proved_total{instance="b"}', "7x60"),
                        ('cuzk_running_jobs{instance="b"}', "1x40 0 1x20")]),
    "CuzkdQueueLong": ([("cuzk_queue_depth", "11x60")], {}, [("cuzk_queue_depth", "11x40 10 11x20")]),
    "CuzkdGpuIdle": ([('cuzk_gpu_busy_seconds_total{gpu="0",gpu_uuid="GPU-1"}', "0+20x60"), ("cuzk_queue_depth", "1x60")],
                     {"gpu": "0", "gpu_uuid": "GPU-1"},
                     # Busy enough; or idle because nothing waits.
                     [('cuzk_gpu_busy_seconds_total{gpu="0",gpu_uuid="GPU-1"}', "0+40x60"), ("cuzk_queue_depth", "3x60"),
                      ('cuzk_gpu_busy_seconds_total{gpu="0",gpu_uuid="GPU-2",instance="b"}', "0+1x60"),
                      ('cuzk_queue_depth{instance="b"}', "1x50 0x10")]),
    "CuzkdRequestsRefused": ([('cuzk_grpc_requests_total{grpc_method="Prove",grpc_code="RESOURCE_EXHAUSTED"}', "0+1x60")],
                             {"job": None},
                             [('cuzk_grpc_requests_total{grpc_method="Prove",grpc_code="RESOURCE_EXHAUSTED"}',
                               "0x50 0+1x10"),
                              ('cuzk_grpc_requests_total{grpc_method="Prove",grpc_code="NOT_FOUND"}', "0+9x60")]),
    "CuzkdMemoryShort": ([('cuzk_memory_used_bytes{class="pinned"}', "50x60"),
                          ('cuzk_memory_used_bytes{class="parameters"}', "46x60"), ("cuzk_memory_budget_bytes", "100x60"),
                          ('cuzk_memory_refusals_total{class="pinned"}', "0+1x60")], {"job": None},
                         # Full, but nobody waits; or refusals with room left.
                         [('cuzk_memory_used_bytes{class="pinned"}', "96x60"), ("cuzk_memory_budget_bytes", "100x60"),
                          ('cuzk_memory_refusals_total{class="pinned"}', "9x60"),
                          ('cuzk_memory_used_bytes{class="pinned",instance="b"}', "95x60"),
                          ('cuzk_memory_budget_bytes{instance="b"}', "100x60"),
                          ('cuzk_memory_refusals_total{class="pinned",instance="b"}', "0+1x60")]),
    "CuzkdParametersThrash": ([('cuzk_parameters_load_seconds_count{proof_kind="porep_c2"}', "0x30 0+1x30"),
                               ], {"job": None},
                              [('cuzk_parameters_load_seconds_count{proof_kind="porep_c2"}', "0x30 0+0.4x30")]),
    "CuzkdBuffersFail": ([("cuzk_pinned_pool_allocation_failures_total", "0x50 1x10")], {},
                         [("cuzk_pinned_pool_allocation_failures_total", "1x60")]),
    "CuzkdJobStoreFails": ([("cuzk_job_store_errors_total", "0x50 1x10")], {},
                           [("cuzk_job_store_errors_total", "1x60")]),
    "CuzkdJobStoreHangs": ([("cuzk_job_store_wait_seconds", "0x40 11+60x20")], {},
                           [("cuzk_job_store_wait_seconds", "10x59 70")]),
    "CuzkdJobStoreDamaged": ([("cuzk_job_store_damaged_total", "1x60"), ("cuzk_uptime_seconds", "0+59x60")], {},
                             [("cuzk_job_store_damaged_total", "1x60"), ("cuzk_uptime_seconds", "0+60x60"),
                              ('cuzk_job_store_damaged_total{instance="b"}', "0x60"),
                              ('cuzk_uptime_seconds{instance="b"}', "0+1x60")]),
    "CuzkdLogDropped": ([("cuzk_log_dropped_total", "0x50 7x10")], {}, [("cuzk_log_dropped_total", "7x60")]),
    "CuzkdDevelopmentParameters": ([("cuzk_development_parameters_loaded", "1x60")], {},
                                   [("cuzk_development_parameters_loaded", "0x60")]),
    "CuzkdReloadFailed": ([("cuzk_config_last_reload_successful", "1x40 0x20")], {},
                          [("cuzk_config_last_reload_successful", "1x40 0x10 1x10")]),
    # The clock of these tests begins at 0: 3,600 s have passed. Two weeks are 1,209,600 s.
    "CuzkdCertificateEnds": ([("cuzk_tls_certificate_expiry_timestamp_seconds", "1213199x60")], {},
                             [("cuzk_tls_certificate_expiry_timestamp_seconds", "1213201x60")]),
    "CuzkdFilesShort": ([("process_open_fds", "81x60"), ("process_max_fds", "100x60")], {},
                        [("process_open_fds", "80x60"), ("process_max_fds", "100x60"),
                         ('process_open_fds{job="other"}', "99x60"), ('process_max_fds{job="other"}', "100x60")]),
}
# Made by Prometheus itself.
NOT_OURS = {"up"}


def alerts():
    """The rules as they stand in the file: name -> {expr, severity, summary, runbook}."""
    found = {}
    for block in re.split(r"\n\s*- alert: ", (ROOT / "config/alerts.yml").read_text())[1:]:
        name, body = block.split("\n", 1)
        expression = re.search(r"expr: (?:>-\n)?(.*?)\n\s+(?:for|labels):", body, re.S).group(1)
        found[name] = {"expr": " ".join(expression.split()),
                       "severity": re.search(r"severity: (\w+)", body).group(1),
                       "summary": re.search(r"summary: (.*)", body).group(1),
                       "runbook": re.search(r"runbook: (.*)", body).group(1)}
    return found


def series(name):
    """A series with the labels that every scrape adds, unless it has them."""
    metric, _, inside = name.rstrip("}").partition("{")
    labels = dict(re.findall(r'(\w+)="([^"]*)"', inside))
    labels = {"job": "cuzkd", "instance": "a", **labels}
    return metric + "{" + ",".join(f'{key}="{value}"' for key, value in labels.items()) + "}"


def filled(text, labels):
    return re.sub(r"\{\{ \$labels\.(\w+) \}\}", lambda match: labels[match.group(1)], text)


class Rules(unittest.TestCase):

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cuzk-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def promtool(self, *arguments):
        done = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_promtool_reads_the_rules_and_the_example(self):
        self.assertIn(f"{len(SERIES)} rules found", self.promtool("check", "rules", ROOT / "config/alerts.yml"))
        self.promtool("check", "config", ROOT / "config/prometheus.yml")

    def test_every_alert_has_its_series(self):
        self.assertEqual(set(alerts()), set(SERIES))

    def run_rules(self, cases):
        """promtool's test of alerts: (name, series, what fires) each. JSON is YAML."""
        tests = {"rule_files": [str(ROOT / "config/alerts.yml")], "evaluation_interval": "1m",
                 "tests": [{"interval": "1m",
                            "input_series": [{"series": series(s), "values": values} for s, values in given],
                            "alert_rule_test": [{"eval_time": "60m", "alertname": name, "exp_alerts": expected}]}
                           for name, given, expected in cases]}
        file = self.folder / "tests.yml"
        file.write_text(json.dumps(tests))
        return subprocess.run(["promtool", "test", "rules", str(file)], capture_output=True, text=True)

    def test_every_alert_fires_and_says_where(self):
        cases = []
        for name, rule in alerts().items():
            labels = {"job": "cuzkd", "instance": "a", **SERIES[name][1]}
            labels = {key: value for key, value in labels.items() if value is not None}
            cases.append((name, SERIES[name][0], [{
                "exp_labels": {"severity": rule["severity"], **labels},
                "exp_annotations": {"summary": filled(rule["summary"], labels), "runbook": rule["runbook"]}}]))
        done = self.run_rules(cases)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_no_alert_fires_without_reason(self):
        done = self.run_rules([(name, SERIES[name][2], []) for name in alerts()])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_test_itself_notices_an_alert_that_does_not_fire(self):
        expected = [{"exp_labels": {"job": "cuzkd", "instance": "a", "severity": "critical"}}]
        self.assertNotEqual(self.run_rules([("CuzkdDown", SERIES["CuzkdDown"][2], expected)]).returncode, 0)
        self.assertNotEqual(self.run_rules([("CuzkdDown", SERIES["CuzkdDown"][0], [])]).returncode, 0)

    def board_problems(self, board):
        """What Grafana would take otherwise than it is meant, or not at all."""
        panels, variables = board["panels"], {v["name"] for v in board["templating"]["list"]}
        seen, cells = set(), set()
        for panel in panels:
            name = f'panel {panel.get("id")}'
            if panel["id"] in seen:
                yield f"{name}: its number is there twice"
            seen.add(panel["id"])
            at = panel["gridPos"]
            own = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
            if not own or own & cells or max(x for x, _ in own) >= 24:
                yield f"{name}: it lies on another one, or beside the board"
            cells |= own
            if not panel.get("title") or panel["type"] not in ("row", "stat", "timeseries"):
                yield f"{name}: title or type"
            targets = panel.get("targets", [])
            if panel["type"] != "row" and not (targets and panel["fieldConfig"]["defaults"].get("unit")):
                yield f"{name}: no targets or no unit"
            if len({t["refId"] for t in targets}) != len(targets):
                yield f"{name}: two targets have one letter"
            for part in [panel, *targets] if targets else []:
                if part["datasource"] != {"type": "prometheus", "uid": "${datasource}"}:
                    yield f"{name}: its data source is not the one that is chosen"
            for expression in (t["expr"] for t in targets):
                unknown = set(re.findall(r"\$\{?(\w+)", expression)) - variables - {"__rate_interval", "__range"}
                if unknown:
                    yield f"{name}: there is no variable {unknown}"

    def test_the_board_is_whole(self):
        board = json.loads((ROOT / "config/grafana.json").read_text())
        self.assertGreaterEqual(board["schemaVersion"], 30)
        self.assertTrue(board["uid"] and board["title"])
        self.assertEqual(list(self.board_problems(board)), [])
        # It does look.
        panel = board["panels"][1]
        for broken in ({"id": board["panels"][2]["id"]}, {"gridPos": board["panels"][2]["gridPos"]}, {"type": "graph"},
                       {"targets": []}, {"datasource": {"type": "prometheus", "uid": "x"}},
                       {"targets": [{**panel["targets"][0], "expr": "up{job=$job}"}]}):
            self.assertTrue(list(self.board_problems({**board, "panels": [{**panel, **broken}, *board["panels"][2:]]})), broken)

    def test_promtool_reads_every_expression_of_the_board(self):
        board = json.loads((ROOT / "config/grafana.json").read_text())
        expressions = [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]
        self.assertGreater(len(expressions), 30)
        rules = [{"record": f"board:{i}", "expr": re.sub(r"\$(__rate_interval|__range)", "5m", e).replace("$instance", ".*")}
                 for i, e in enumerate(expressions)]
        file = self.folder / "board.yml"
        file.write_text(json.dumps({"groups": [{"name": "board", "rules": rules}]}))
        self.assertIn(f"{len(expressions)} rules found", self.promtool("check", "rules", file))

    def test_every_alert_has_a_section_in_the_handbook(self):
        headings = re.findall(r"^#+ (.+)$", (ROOT / "docs/TROUBLESHOOTING.md").read_text(), re.M)
        anchors = {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}
        for name, rule in alerts().items():
            file, _, anchor = rule["runbook"].partition("#")
            self.assertEqual((file, anchor), ("TROUBLESHOOTING.md", name.lower()))
            self.assertIn(anchor, anchors)


if __name__ == "__main__":
    ROOT = pathlib.Path(sys.argv[4])
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
