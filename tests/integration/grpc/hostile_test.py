#!/usr/bin/env python3
"""Clients that want to exhaust the daemon's memory, frame by frame: what arrives is bounded, and others are served.

Usage: hostile_test.py BIN VECTORS PARAMETERS
"""

import contextlib
import struct
import sys
import threading
import unittest
import zlib

import daemon_fixture as fixture
import http2
import net_fixture as net
from http2 import CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, RST_STREAM

PROVING = "/cuzk.v1.ProvingEngine/"
SUBMIT, STATUS = PROVING + "SubmitProof", PROVING + "GetStatus"
UNIMPLEMENTED, RESOURCE_EXHAUSTED, OK = "12", "8", "0"
ENHANCE_YOUR_CALM = 11
INGRESS = 128 << 20
# What the process may grow by beside grpc.ingress_memory: gRPC's own parts of many connections and calls.
SLACK = 64 << 20


def memory(daemon, name="VmRSS"):
    """Bytes, as /proc tells them; VmHWM is the most that there were."""
    with open(f"/proc/{daemon.process.pid}/status") as file:
        line = next(line for line in file if line.startswith(name + ":"))
    return int(line.split()[1]) << 10


class Hostile(unittest.TestCase):

    @staticmethod
    def start():
        return fixture.Daemon("--grpc.ingress_memory", f"{INGRESS >> 20}MiB", "--memory.budget", "1GiB")

    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.start()

    def setUp(self):
        with open(f"/proc/{self.daemon.process.pid}/clear_refs", "w") as file:
            file.write("5")  # VmHWM begins anew
        self.before = memory(self.daemon)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()

    def tearDown(self):
        self.assertIsNone(self.daemon.process.poll(), self.daemon.log())
        self.expect_served()

    def connect(self):
        connection = http2.Connection(self.daemon.socket)
        self.addCleanup(connection.close)
        return connection

    def expect_served(self):
        """Another client's call is answered. While gRPC ends hundreds of calls, a busy machine may lack threads for a moment."""
        def served():
            connection = self.connect()
            connection.call(1, STATUS, b"")
            status, text = connection.status_of(1)
            if status == RESOURCE_EXHAUSTED and "too many calls at once" in (text or ""):
                return False
            self.assertEqual((status, text), (OK, None))
            return True
        net.wait_for(served, "an answer", seconds=60)

    def bounded(self, most):
        self.assertLess(memory(self.daemon, "VmHWM") - self.before, most)

    def flood(self, connection, frames, most):
        """Sends until the daemon has had enough; the code of its GOAWAY. Fails if it takes `most` bytes."""
        sent = 0
        with contextlib.suppress(ConnectionError):
            for data in frames:
                connection.socket.sendall(data)
                sent += len(data)
                if sent >= most:
                    self.fail(f"{sent} bytes were taken")
        with contextlib.suppress(EOFError, ConnectionError):
            while True:
                kind, _, _, payload = connection.frame()
                if kind == GOAWAY:
                    return struct.unpack(">I", payload[4:8])[0]

    # Compression.

    def test_compressed_messages_are_refused_without_being_inflated(self):
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        begin = packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH)
        block = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
        bomb = begin + block * 4096  # 4 MB for 4 GB
        reflection = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
        for path in (SUBMIT, STATUS, "/grpc.health.v1.Health/Check", reflection):
            with self.subTest(path=path):
                connection = self.connect()
                connection.send(HEADERS, END_HEADERS, http2.headers_of_call(path, ("grpc-encoding", "gzip")), 1)
                message = b"\1" + struct.pack(">I", len(bomb)) + bomb
                with contextlib.suppress(ConnectionError):
                    for at in range(0, 60_000, 16_000):  # as much as the window of a new stream allows
                        connection.send(DATA, 0, message[at:at + 16_000], 1)
                status, text = connection.status_of(1)
                self.assertEqual((status, "gzip" in text), (UNIMPLEMENTED, True), text)
        self.bounded(SLACK)

    # Headers.

    def test_headers_that_never_end(self):
        connection = self.connect()
        begin = http2.headers_of_call(SUBMIT) + b"\0\1x" + http2.number(3 << 30, 7)

        def frames():
            yield http2.frame(HEADERS, 0, begin, 1)
            while True:
                yield http2.frame(CONTINUATION, 0, b"a" * 16384, 1)

        self.assertEqual(self.flood(connection, frames(), 64 << 20), ENHANCE_YOUR_CALM)
        self.bounded(SLACK)

    def test_headers_that_are_larger_decoded_than_sent(self):
        connection = self.connect()
        connection.send(HEADERS, END_HEADERS,
                        http2.headers_of_call(SUBMIT) + b"\x40\1n" + http2.number(3000, 7) + b"v" * 3000, 1)

        def frames():
            for stream in range(3, 1 << 20, 2):
                yield http2.frame(HEADERS, END_HEADERS, http2.headers_of_call(SUBMIT) + b"\xbe" * 10_000, stream)

        self.assertEqual(self.flood(connection, frames(), 64 << 20), ENHANCE_YOUR_CALM)
        self.bounded(SLACK)

    # Messages.

    def test_a_message_of_2_GiB_is_refused_by_its_length(self):
        connection = self.connect()
        connection.send(HEADERS, END_HEADERS, http2.headers_of_call(SUBMIT), 1)
        connection.send(DATA, 0, b"\0" + struct.pack(">I", (2 << 30) - 1) + b"x" * 10_000, 1)
        status, text = connection.status_of(1)
        self.assertEqual(status, RESOURCE_EXHAUSTED)
        self.assertIn("message larger than max (2147483647", text)

    def test_many_messages_that_never_end(self):
        """A hundred connections hold as much of as many messages as they are let; what has no room is refused."""
        def hold():
            connection = self.connect()
            for stream in range(1, 9, 2):
                connection.send(HEADERS, END_HEADERS, http2.headers_of_call(SUBMIT), stream)
                connection.send(DATA, 0, b"\0" + struct.pack(">I", 8 << 20) + b"x" * 15_000, stream)
            return connection

        held = [hold() for _ in range(100)]
        self.assertEqual(held[-1].status_of(7)[0], RESOURCE_EXHAUSTED)
        # The windows are open: everything that they allow arrives.
        def fill(connection):
            with contextlib.suppress(OSError):
                for stream in range(1, 9, 2):
                    for _ in range(3):
                        connection.send(DATA, 0, b"x" * 16_000, stream)
        threads = [threading.Thread(target=fill, args=(connection,)) for connection in held]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.bounded(INGRESS + SLACK)
        # Small calls have room meanwhile, and large ones once these have gone.
        small = self.connect()
        small.call(1, STATUS, b"")
        self.assertEqual(small.status_of(1)[0], OK)
        for connection in held:
            connection.close()

        def large():
            again = self.connect()
            again.send(HEADERS, END_HEADERS, http2.headers_of_call(SUBMIT), 1)
            again.send(DATA, 0, b"\0" + struct.pack(">I", 40 << 20) + b"x" * 15_000, 1)
            again.call(3, STATUS, b"")
            self.assertEqual(again.status_of(3)[0], OK)
            again.socket.settimeout(0.2)
            with contextlib.suppress(TimeoutError):
                while True:
                    kind, _, stream, _ = again.frame()
                    if stream == 1 and kind in (HEADERS, RST_STREAM):
                        return False
            return True

        net.wait_for(large, "the room is free again", seconds=60)

    def test_messages_in_crumbs(self):
        connection = self.connect()
        connection.send(HEADERS, END_HEADERS, http2.headers_of_call(SUBMIT), 1)
        connection.send(DATA, 0, b"\0" + struct.pack(">I", 1 << 20), 1)

        def frames():
            while True:
                yield http2.frame(DATA, 0, b"x", 1) * 1000

        self.assertEqual(self.flood(connection, frames(), 64 << 20), ENHANCE_YOUR_CALM)
        self.bounded(INGRESS + SLACK)

    # Calls.

    def test_calls_that_are_opened_and_reset_at_once(self):
        connection = self.connect()

        def frames():
            for stream in range(1, 1 << 30, 2):
                yield (http2.frame(HEADERS, END_HEADERS, http2.headers_of_call(STATUS), stream) +
                       http2.frame(RST_STREAM, 0, struct.pack(">I", 8), stream))

        self.assertEqual(self.flood(connection, frames(), 64 << 20), ENHANCE_YOUR_CALM)
        self.bounded(INGRESS + SLACK)

    def test_calls_that_are_only_opened(self):
        """More calls than there is room for: connections that hold many are ended, and others are served all the time."""
        held = []
        for _ in range(60):
            connection = self.connect()
            held.append(connection)
            with contextlib.suppress(ConnectionError):
                for stream in range(1, 401, 2):
                    connection.send(HEADERS, END_HEADERS, http2.headers_of_call(SUBMIT, ("filler", "x" * 4000)), stream)
            self.expect_served()
        self.assertIn("this one held the most for calls without a message", self.daemon.log())
        self.bounded(INGRESS + SLACK)

    # What was taken is given back.

    def test_memory_goes_back_once_a_burst_is_over(self):
        """In a daemon of its own: what other tests sent is still going back while the next one begins."""
        size = 48 << 20
        daemon = self.start()
        self.addCleanup(daemon.close)
        before = memory(daemon)
        connection = http2.Connection(daemon.socket)
        self.addCleanup(connection.close)
        connection.send(http2.WINDOW_UPDATE, 0, struct.pack(">I", 1 << 30))
        connection.send(HEADERS, END_HEADERS, http2.headers_of_call(SUBMIT), 1)
        self.assertTrue(self.send_in_windows(connection, size))
        net.wait_for(lambda: memory(daemon) - before > size // 2, "the message is there", seconds=60)
        connection.close()
        net.wait_for(lambda: memory(daemon) - before < 24 << 20, "its memory goes back", seconds=60)

    def send_in_windows(self, connection, size):
        """A message without its last bytes, as fast as the server's windows allow; whether it was taken."""
        windows = {0: 65_535, 1: 65_535}
        connection.send(DATA, 0, b"\0" + struct.pack(">I", size + 10), 1)
        left = size
        windows[0] -= 5
        windows[1] -= 5
        initial = 65_535
        while left > 0:
            piece = min(16_000, left, windows[0], windows[1])
            if piece > 0:
                connection.send(DATA, 0, b"x" * piece, 1)
                left -= piece
                windows[0] -= piece
                windows[1] -= piece
                continue
            kind, flags, stream, payload = connection.frame()
            if kind == http2.WINDOW_UPDATE:
                windows[stream] += struct.unpack(">I", payload)[0]
            elif kind == http2.SETTINGS and not flags & http2.ACK:
                for at in range(0, len(payload), 6):
                    name, value = struct.unpack_from(">HI", payload, at)
                    if name == http2.INITIAL_WINDOW_SIZE:
                        windows[1] += value - initial
                        initial = value
                connection.send(http2.SETTINGS, http2.ACK, b"")
            elif kind == http2.PING and not flags & http2.ACK:
                connection.send(http2.PING, http2.ACK, payload)
            elif kind in (GOAWAY, RST_STREAM):
                return False
        return True


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
