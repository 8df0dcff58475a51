#!/usr/bin/env python3
"""How soon an operator is answered while every core proves, and how soon the daemon is ready.

Proves 2 KiB sectors without a pause and asks meanwhile, one question after another as a scraper does: /metrics, /status
and /timeline over HTTP, GetStatus over gRPC. Every answer is checked. Prints milliseconds; ends with 1 if a figure is
above what it may be.

Usage: view_bench.py BIN VECTORS PARAMETERS [SECONDS]
"""

import http.client
import json
import os
import pathlib
import struct
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration" / "fixtures"))
import daemon_fixture as fixture  # noqa: E402
import http2  # noqa: E402
from daemon_fixture import Daemon, requests  # noqa: E402

MOST_MS = 50  # GetStatus and /metrics, 99 of 100
MOST_START_MS = 2000
STARTS = 10


class Grpc:
    """Calls without arguments; headers are never indexed."""

    def __init__(self, path):
        self.connection = http2.Connection(path)
        self.next_id = 1

    @staticmethod
    def header(name, value):
        """A literal without indexing; `name` is text or a number of the static table below 15."""
        head = bytes([name]) if isinstance(name, int) else bytes([0, len(name)]) + name.encode()
        return head + bytes([len(value)]) + value.encode()

    def call(self, method):
        """The message of the answer."""
        stream, self.next_id = self.next_id, self.next_id + 2
        head = (b"\x83\x86" + self.header(4, method) + self.header(1, "localhost")
                + self.header("content-type", "application/grpc") + self.header("te", "trailers"))
        send = self.connection.send
        send(http2.HEADERS, http2.END_HEADERS, head, stream)
        send(http2.DATA, http2.END_STREAM, b"\0\0\0\0\0", stream)
        body = b""
        while True:
            kind, flags, of, payload = self.connection.frame()
            if kind in (http2.SETTINGS, http2.PING) and not flags & http2.ACK:
                send(kind, http2.ACK, payload if kind == http2.PING else b"")
            elif kind in (http2.RST_STREAM, http2.GOAWAY):
                raise AssertionError(f"frame {kind}: {payload}")
            elif kind == http2.DATA and of == stream:
                body += payload
                if payload:
                    for window in (0, stream):
                        send(http2.WINDOW_UPDATE, 0, struct.pack(">I", len(payload)), window)
            if of == stream and kind in (http2.DATA, http2.HEADERS) and flags & http2.END_STREAM:
                break
        if len(body) < 5 or struct.unpack(">I", body[1:5])[0] != len(body) - 5:
            raise AssertionError(f"no whole message: {body[:40]}")
        return body[5:]


def get(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    if answer.status != 200:
        raise AssertionError(f"{path}: {answer.status}")
    return body


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def busy(port):
    """Whether something is being proved now: a figure of an idle daemon says nothing."""
    return any(worker["current_job"] for worker in json.loads(get(port, "/status"))["gpu_workers"])


def keep_busy(daemon, turn):
    """At least a few jobs that wait."""
    waiting = json.loads(get(daemon.http_port(), "/status"))["counters"]["queue_depth"]
    kinds = requests("porep")
    for i in range(max(0, 6 - waiting)):
        answer = daemon.control("submit", "--request", kinds[i % len(kinds)], "--id", f"bench {turn} {i}")
        if answer.code != 0:
            raise AssertionError(answer)


def answer_times(daemon, seconds):
    """Milliseconds of each question, asked in turns."""
    port, grpc = daemon.http_port(), Grpc(daemon.socket)
    questions = {
        "GetStatus": (lambda: grpc.call("/cuzk.v1.ProvingEngine/GetStatus"), b"porep-c2"),
        "/metrics": (lambda: get(port, "/metrics"), b"cuzk_running_jobs"),
        "/status": (lambda: get(port, "/status"), b'"pipelines":['),
        "/timeline": (lambda: get(port, "/timeline"), b'"device 0 worker'),
    }
    times = {name: [] for name in questions}
    end, turn = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        keep_busy(daemon, turn)
        turn += 1
        for _ in range(25):
            for name, (ask, expected) in questions.items():
                begin = time.perf_counter()
                body = ask()
                times[name].append(1000 * (time.perf_counter() - begin))
                if expected not in body:
                    raise AssertionError(f"{name}: {body[:200]}")
                time.sleep(0.01)
        if not busy(port):
            raise AssertionError("the daemon is idle")
    return times


def start_times():
    """From the start of the process to its first whole answer; nothing is preloaded."""
    times = []
    for _ in range(STARTS):
        begin = time.perf_counter()
        daemon = Daemon()
        if get(daemon.http_port(), "/readyz") != b"ready\n":
            raise AssertionError("not ready")
        times.append(1000 * (time.perf_counter() - begin))
        daemon.close()
    return times


def main(seconds):
    print(f"start-up without preload, {STARTS} times: median {percentile(starts := start_times(), 0.5):.0f} ms, "
          f"most {max(starts):.0f} ms (may be {MOST_START_MS})")
    daemon = Daemon("--synthesis.partitions", str(os.cpu_count()))
    over = max(starts) > MOST_START_MS
    try:
        keep_busy(daemon, "first")
        while not json.loads(get(daemon.http_port(), "/status"))["devices"][0]["partitions_total"]:
            time.sleep(0.1)
        print(f"{'while all cores prove':24}{'asked':>8}{'median':>9}{'p99':>9}{'most':>9}  ms")
        for name, times in answer_times(daemon, seconds).items():
            p99 = percentile(times, 0.99)
            limited = name in ("GetStatus", "/metrics")
            over = over or (limited and p99 > MOST_MS)
            print(f"{name:24}{len(times):8}{percentile(times, 0.5):9.2f}{p99:9.2f}{max(times):9.2f}"
                  f"{'  (p99 may be ' + str(MOST_MS) + ')' if limited else ''}")
    finally:
        daemon.close()
    return 1 if over else 0


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    sys.exit(main(float(sys.argv[4]) if len(sys.argv) > 4 else 30))
