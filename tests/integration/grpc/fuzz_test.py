#!/usr/bin/env python3
"""Random bytes at both ports, most of them nearly right: the daemon lives, its memory stays bounded, and another client is
served all the time. CUZK_FUZZ_SECONDS says for how long (60 unless it is set), CUZK_FUZZ_SEED how they are drawn.

Usage: fuzz_test.py BIN VECTORS PARAMETERS
"""

import contextlib
import http.client
import os
import random
import socket
import struct
import sys
import threading
import time
import unittest
import zlib

import daemon_fixture as fixture
import http2
import net_fixture as net
from hostile_test import memory

SECONDS = int(os.environ.get("CUZK_FUZZ_SECONDS", "60"))
SEED = int(os.environ.get("CUZK_FUZZ_SEED", "0")) or random.SystemRandom().getrandbits(32)
INGRESS = 256 << 20
SLACK = 300 << 20
WRITERS = 6
METHODS = [f"/cuzk.v1.ProvingEngine/{name}" for name in
           ("SubmitProof", "AwaitProof", "Prove", "CancelProof", "GetStatus", "GetMetrics", "EvictSRS", "Nothing")]
METHODS += [f"/cuzkd.v1.Operator/{name}" for name in
            ("Watch", "GetTimeline", "GetSettings", "ListJobs", "GetJob", "ListDevices", "SetDevice", "Probe")]
METHODS += ["/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch",
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
            "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "/", "x" * 300]
GZIP = zlib.compress(bytes(1 << 20), 9, wbits=31)
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + http2.frame(http2.SETTINGS, 0, b"")


class Client:
    """Draws what one hostile client of the gRPC port sends."""

    def __init__(self, rng):
        self.rng, self.stream = rng, 1

    def bytes(self, most):
        return self.rng.randbytes(self.rng.choice((0, 1, 5, self.rng.randrange(most + 1), most)))

    def block(self):
        rng = self.rng
        further = rng.choice(((), (("grpc-encoding", rng.choice(("gzip", "deflate", "identity", "no")),),),
                              (("grpc-timeout", rng.choice(("1n", "99999999H", "2562048H", "x", "-1S", ""))),),
                              (("filler", "v" * rng.choice((10, 4000, 30_000, 70_000))),), (("te", "x"), ("a", "b" * 9000)),
                              ((":scheme", "ftp"),), (("grpclb_client_stats", "x" * 9000),), (("content-length", "-1"),)))
        block = http2.headers_of_call(rng.choice(METHODS), *further)
        draw = rng.random()
        if draw < 0.1:
            block = block[:rng.randrange(len(block))]
        elif draw < 0.2:
            block += self.bytes(200)
        elif draw < 0.3:
            block += b"\x40\1n" + http2.number(3000, 7) + b"v" * 3000 + b"\xbe" * rng.choice((1, 20, 10_000))
        elif draw < 0.35:
            block += b"\0\1x" + http2.number(rng.choice((1 << 20, 3 << 30)), 7)
        return block

    def headers(self):
        rng, stream, block = self.rng, self.stream, self.block()
        if rng.random() < 0.9:
            self.stream += 2
        if rng.random() < 0.8:
            flags = http2.END_HEADERS | rng.choice((0, 0, 0, http2.END_STREAM, 8, 0x20))
            return http2.frame(http2.HEADERS, flags, block, stream)
        cut = rng.randrange(len(block) + 1)
        more = rng.choice((0, 1, 50, 500))
        middle = http2.frame(http2.CONTINUATION, 0, self.bytes(16_000), stream) * more
        return (http2.frame(http2.HEADERS, 0, block[:cut], stream) + middle +
                http2.frame(http2.CONTINUATION, http2.END_HEADERS, block[cut:], stream))

    def data(self):
        rng = self.rng
        stream = rng.choice((self.stream - 2, self.stream - 2, self.stream - 4, 0, self.stream + 8)) & 0x7FFFFFFF
        draw = rng.random()
        if draw < 0.3:  # a message whose length may be a lie
            length = rng.choice((0, 5, 1000, 1 << 20, 40 << 20, 200 << 20, (1 << 31) - 1, (1 << 32) - 1))
            payload = bytes([rng.choice((0, 0, 0, 1, 7))]) + struct.pack(">I", length) + self.bytes(15_000)
        elif draw < 0.4:
            payload = b"\1" + struct.pack(">I", len(GZIP)) + GZIP
        elif draw < 0.5:
            return http2.frame(http2.DATA, 0, self.bytes(3), stream) * rng.choice((1, 100, 20_000))
        else:
            payload = self.bytes(16_384)
        return http2.frame(http2.DATA, rng.choice((0, 0, 0, http2.END_STREAM, 8, 9)), payload, stream)

    def control(self):
        rng = self.rng
        kind = rng.choice((http2.PRIORITY, http2.RST_STREAM, http2.SETTINGS, http2.PUSH_PROMISE, http2.PING, http2.GOAWAY,
                           http2.WINDOW_UPDATE, http2.CONTINUATION, 10, 200))
        right = {http2.PRIORITY: 5, http2.RST_STREAM: 4, http2.SETTINGS: 6, http2.PING: 8, http2.GOAWAY: 8,
                 http2.WINDOW_UPDATE: 4}.get(kind, 20)
        payload = rng.randbytes(right) if rng.random() < 0.8 else self.bytes(20_000)
        if kind == http2.SETTINGS and rng.random() < 0.5:
            payload = struct.pack(">HI", rng.randrange(8), rng.choice((0, 1, 4096, 65_535, (1 << 31) - 1, (1 << 32) - 1)))
        stream = rng.choice((0, 0, self.stream, self.stream - 2)) & 0x7FFFFFFF
        return http2.frame(kind, rng.choice((0, 0, 1, 255)), payload, stream) * rng.choice((1, 1, 1, 100, 5000))

    def next(self):
        draw = self.rng.random()
        if draw < 0.35:
            return self.headers()
        if draw < 0.75:
            return self.data()
        if draw < 0.97:
            return self.control()
        return self.bytes(1000)


def http_request(rng):
    target = rng.choice(("/status", "/metrics", "/", "/trace", "/readyz", "*", "http://localhost/metrics", "http://x:y/",
                         "/%", "/%00", "/" + "a" * rng.choice((10, 20_000)), "//..//..", "x", ""))
    method = rng.choice(("GET", "HEAD", "OPTIONS", "POST", "CONNECT", "G\x01T", "", "PRI"))
    version = rng.choice(("HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/1.", "x", ""))
    line = f"{method} {target} {version}\r\n"
    field = rng.choice(("Host: localhost\r\n", "Host: a\r\nHost: b\r\n", "Host: evil\r\n", "\0: x\r\n", "X" * 20_000,
                        "Content-Length: 99999999999999999999\r\nHost: localhost\r\n", "a: b\r\n" * 5000,
                        "Transfer-Encoding: chunked\r\nHost: localhost\r\n"))
    text = (line + field + rng.choice(("\r\n", "\r\n", "\n", ""))).encode() + rng.randbytes(rng.choice((0, 10, 100_000)))
    return text[:rng.randrange(len(text) + 1)] if rng.random() < 0.2 else text


class Fuzz(unittest.TestCase):

    def setUp(self):
        print(f"CUZK_FUZZ_SEED={SEED}", flush=True)
        self.daemon = fixture.Daemon("--grpc.ingress_memory", f"{INGRESS >> 20}MiB", "--memory.budget", "1GiB")
        self.addCleanup(self.daemon.close)
        self.port = self.daemon.http_port()
        self.before = memory(self.daemon)
        self.end = time.monotonic() + SECONDS
        self.sent = self.served = 0
        self.lock = threading.Lock()

    def count(self, size):
        with self.lock:
            self.sent += size

    def write_frames(self, number):
        rng = random.Random(f"{SEED} frames {number}")
        while time.monotonic() < self.end:
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(5)
                connection.connect(str(self.daemon.socket))
                client = Client(rng)
                connection.sendall(PREFACE if rng.random() < 0.97 else rng.randbytes(50))
                reads = rng.random() < 0.7
                for _ in range(rng.choice((1, 10, 100, 1000))):
                    data = client.next()
                    connection.sendall(data)
                    self.count(len(data))
                    if reads:
                        connection.setblocking(False)
                        with contextlib.suppress(BlockingIOError):
                            while connection.recv(1 << 16):
                                pass
                        connection.settimeout(5)
                    if time.monotonic() > self.end:
                        break

    def write_requests(self, number):
        rng = random.Random(f"{SEED} requests {number}")
        while time.monotonic() < self.end:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 5) as connection:
                data = http_request(rng)
                connection.sendall(data)
                self.count(len(data))
                if rng.random() < 0.7:
                    connection.settimeout(0.2)
                    while connection.recv(1 << 16):
                        pass

    def ask(self):
        """Another client, whose calls are all answered."""
        most = 0
        while time.monotonic() < self.end:
            connection = http2.Connection(self.daemon.socket)
            connection.socket.settimeout(60)
            try:
                connection.call(1, "/cuzk.v1.ProvingEngine/GetStatus", b"")
                self.assertEqual(connection.status_of(1)[0], "0")
            finally:
                connection.close()
            begin = time.monotonic()
            try:
                self.assertEqual(net.http_get(self.daemon, "/healthz")[0], 200)
            except http.client.RemoteDisconnected:
                # A request may take 5 s; on a busy machine this client itself may need longer to send it.
                if time.monotonic() - begin < 5:
                    raise
                continue
            self.served += 1
            most = max(most, memory(self.daemon, "VmHWM"))
            self.assertLess(most - self.before, INGRESS + SLACK)
        return most

    def test_both_ports(self):
        writers = [threading.Thread(target=self.write_frames, args=(number,)) for number in range(WRITERS)]
        writers += [threading.Thread(target=self.write_requests, args=(number,)) for number in range(2)]
        for writer in writers:
            writer.start()
        try:
            most = self.ask()
        finally:
            self.end = min(self.end, time.monotonic())
            for writer in writers:
                writer.join()
        self.assertIsNone(self.daemon.process.poll(), self.daemon.log()[-3000:])
        print(f"{self.sent >> 20} MiB sent, {self.served} calls of another client served, resident {self.before >> 20} MiB "
              f"before, {most >> 20} at most, {memory(self.daemon) >> 20} now", flush=True)
        self.assertGreater(self.served, 0)
        self.daemon.terminate()
        self.assertEqual(self.daemon.process.wait(timeout=600), 0, self.daemon.log()[-3000:])


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
