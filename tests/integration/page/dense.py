"""A daemon that is not there: serves the live page with the state of a busy day, made up but in the shapes of the real
answers, so that a browser can be shown 33 jobs on three cards without a card."""

import http.server
import json
import threading
import time

KINDS = {"porep": "POREP_SEAL_COMMIT", "window": "WINDOW_POST_PARTITION", "winning": "WINNING_POST", "snap": "SNAP_DEALS_UPDATE"}
SLOTS = 288
FAILURE = ("partition 3: comm_r of the vanilla proof is not the one of the sector: the sealed file or its cache was "
           "changed after it was sealed")


def job(number, kind, stage="queued", place=0, done=0, total=10, priority="normal", **fields):
    states = ["done"] * done + ([] if stage == "queued" else ["gpu", "synthesizing"]) + ["pending"] * total
    names = {"porep": f"ps-porep-1000-{80 + number}", "window": f"wdpost-1000-{number}-[18 52 86]",
             "winning": f"wnpost-1000-{4000 + number}", "snap": f"snap-update-1000-{500 + number}"}
    return {"job_id": names[kind], "key": number, "proof_kind": KINDS[kind], "kind": kind, "miner_id": 1000,
            "sector_number": 80 + number, "partition_index": number % 4, "place": place, "started_secs_ago": 9.0,
            "submitted_secs_ago": 40.0 + 31 * number, "total_partitions": 0 if stage == "queued" else total,
            "partitions_done": done, "priority": priority, "state": "queued" if stage == "queued" else "running",
            "stage": stage, "circuit_id": f"{kind}-32g", "message": "", "fraction": 0 if stage == "queued" else (done + 0.4) / total,
            "secs_left": None if stage == "queued" else 3.0 * (total - done), "deadline_secs": None,
            "finished_secs_ago": None,
            "partitions": [] if stage == "queued" else [
                {"index": i, "state": s, "synth_ms": 2100 if s != "pending" else None, "gpu_ms": 2800 if s == "done" else None}
                for i, s in enumerate(states[:total])], **fields}


def jobs():
    """33 unfinished jobs, of which 27 wait, and one that was cancelled a moment ago."""
    running = [job(1, "winning", "device", total=1, priority="critical", deadline_secs=14.0),
               job(2, "window", "device", done=0, total=1, priority="high", deadline_secs=1500.0),
               job(3, "porep", "device", done=7), job(4, "porep", "synthesis", done=4),
               job(5, "snap", "waiting-device", done=2, total=16), job(6, "porep", "loading-parameters")]
    waiting = [job(10 + i, ("porep", "snap", "porep", "window")[i % 4], place=i + 1) for i in range(27)]
    ended = job(40, "snap", "synthesis", done=3, total=16) | {
        "state": "cancelled", "finished_secs_ago": 12.0, "secs_left": None, "message": "cancelled by request"}
    return running + waiting + [ended]


def card(number):
    return {"temperature_celsius": 61 + number, "power_watts": 512.4 + 20 * number, "power_limit_watts": 700.0,
            "sm_clock_mhz": 1980, "memory_clock_mhz": 2619, "pcie_sent_bytes_per_sec": 3 << 20,
            "pcie_received_bytes_per_sec": 12 << 30, "pcie_generation": 5, "pcie_width": 16}


def status():
    devices, workers = [], []
    for d in range(3):
        devices.append({"name": "NVIDIA H200", "gpu_ordinal": d, "uuid": f"GPU-{d}", "healthy": True, "lost_reason": "",
                        "service": "works", "service_reason": "", "service_secs_ago": 86000.0, "busy_share": 0.97 - 0.1 * d,
                        "memory_total_bytes": 150 << 30, "memory_free_bytes": (40 + 9 * d) << 30, "memory_seen_secs_ago": 1.2,
                        "busy_secs_total": 70000.0, "partitions_total": 24017 + d, "queued": 2 - d % 2,
                        "pool_total_bytes": 24 << 30, "pool_used_bytes": 18 << 30, "pool_buffers": 8, "pool_used_buffers": 6,
                        "card": card(d) if d < 2 else card(d) | {"power_limit_watts": None, "pcie_generation": None}})
        for w in range(3):
            busy = w < 2
            workers.append({"worker_id": 3 * d + w, "gpu_ordinal": d, "track": f"device {d} worker {w}", "critical_only": w == 2,
                            "state": "proving" if busy else "idle",
                            "current_job": f"ps-porep-1000-{83 + w}" if busy else None,
                            "current_partition": 3 * w if busy else None, "current_kind": KINDS["porep"] if busy else None,
                            "busy_secs": 1.2 + w if busy else None})
    by_kind = lambda *numbers: dict(zip(KINDS.values(), numbers))
    return {"uptime_secs": 86000.0, "host": "prover-07", "version": "1.4.0", "revision": "0123abcd",
            "memory": {"total_bytes": 1 << 40, "used_bytes": 700 << 30, "available_bytes": 324 << 30, "peak_bytes": 900 << 30,
                       "used_by_class": {"requests": 2 << 30, "witnesses": 300 << 30, "pinned": 200 << 30, "parameters": 198 << 30}},
            "synthesis": {"max_concurrent": 4, "active": 3}, "pipelines": jobs(), "gpu_workers": workers, "devices": devices,
            "allocations": {"srs": [{"circuit_id": f"{kind}-32g", "bytes": 46 << 30, "last_used_secs_ago": 9.0, "evictable": False,
                                     "ref_count": 2, "devices": 3, "ready": True, "fraction": 1.0, "development": False}
                                    for kind in ("porep", "snap", "window")], "pce": []},
            "counters": {"total_completed": 2310, "total_failed": 7, "completed_by_kind": by_kind(1200, 300, 10, 800),
                         "failed_by_kind": by_kind(5, 1, 0, 1), "cancelled_by_kind": by_kind(3, 0, 0, 1),
                         "pending_by_kind": by_kind(14, 6, 0, 7), "in_progress_by_kind": by_kind(3, 1, 1, 1), "queue_depth": 27},
            "buffers": {"synth_in_flight": 3, "provers_in_flight": 6, "aux_in_flight": 6, "shells_in_flight": 0, "pending_handles": 4},
            "job_store_wait_secs": 0.0, "ready": True, "not_ready_reason": "",
            "last_errors": [{"text": f"ps-porep-1000-{60 + i}: {FAILURE}", "secs_ago": 600.0 * (i + 1)} for i in range(7)]}


def timeline():
    now, tracks = time.monotonic(), []
    stages = (("h2d", 0.25), ("wait", 0.3), ("transforms", 0.5), ("msm h", 0.8), ("msm l", 0.5), ("msm a", 0.3), ("d2h", 0.05))
    for d in range(3):
        for w in range(2):
            bars, at, partition = [], now - 300 + 1.3 * w, 0
            while at + 3.4 < now - 1.5:
                for name, seconds in stages:
                    bars.append({"name": name, "job_id": f"ps-porep-1000-{80 + partition // 10}", "key": 1 + partition // 10,
                                 "partition": partition % 10, "begin": at, "end": at + seconds})
                    at += seconds
                at, partition = at + 0.1, partition + 1
            tracks.append({"name": f"device {d} worker {w}", "bars": bars})
    for name, label, seconds in (("synthesis 0", "synthesis", 2.1), ("synthesis 1", "synthesis", 2.3), ("synthesis 2", "parse", 0.9),
                                 ("finisher", "assemble", 0.02), ("loader 0", "load", 30.0), ("loader 1", "load", 31.0)):
        bars = [{"name": label, "job_id": "ps-porep-1000-83", "key": 3, "partition": i % 10, "begin": now - 299 + 3.3 * i,
                 "end": now - 299 + 3.3 * i + seconds} for i in range(1 if label == "load" else 88)]
        tracks.append({"name": name, "bars": bars})
    return {"now": now, "window_secs": 900, "tracks": tracks}


def ended(number, state="completed", error="", stage="verifying"):
    kind = ("porep", "snap", "window", "porep")[number % 4]
    times = {"queued": 12000, "parsing": 300, "loading-parameters": 0, "synthesis": 21000, "waiting-device": 4000, "device": 30000,
             "finishing": 200, "verifying": 40, "total": 48000}
    return {"job_id": f"ps-{kind}-1000-{700 - number}", "number": 700 - number, "kind": kind, "miner_id": 1000,
            "sector_number": 700 - number, "partition_index": number % 4, "state": state, "stage": stage, "device": "0,1",
            "error": error, "ended_secs_ago": 37.0 * (number + 1), "times_ms": times}


def history():
    wave = lambda i, most: int(most * (0.6 + 0.4 * ((i * 37) % 11) / 10)) if i > 40 else None
    recent = [ended(i) for i in range(38)] + [ended(38, "cancelled", "cancelled by request", "queued")]
    return {"recent": recent, "failed": [ended(50 + i, "failed", FAILURE, "synthesis") for i in range(5)], "trouble": "",
            "day": {"slot_secs": 300, "last_hour": {"porep": 61, "window": 12, "winning": 3, "snap": 40}, "failed_last_hour": 1,
                    "proofs": {kind: [wave(i + n, 5) for i in range(SLOTS)] for n, kind in enumerate(KINDS)},
                    "failed": [0] * SLOTS, "busy": [[None if i < 40 else wave(i + d, 95) / 100 if wave(i + d, 95) else 0
                                                     for i in range(SLOTS)] for d in range(3)],
                    "waiting": [wave(i, 30) for i in range(SLOTS)],
                    "memory": [None if i < 40 else 0.5 + (i % 60) / 150 for i in range(SLOTS)]}}


class Server:
    """Serves the page's bytes at /, and the made-up answers beside it, each through `change` if there is one."""

    def __init__(self, page, policy):
        answers = {"/status": status, "/timeline": timeline, "/history": history}
        self.change = lambda path, answer: answer
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                known = self.path in answers
                body = json.dumps(server.change(self.path, answers[self.path]())).encode() if known else page
                self.send_response(200)
                self.send_header("Content-Type", "application/json" if known else "text/html; charset=utf-8")
                if not known:
                    self.send_header("Content-Security-Policy", policy)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()
