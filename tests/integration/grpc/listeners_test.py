#!/usr/bin/env python3
"""The addresses that the daemon listens on: one that another process has, and the way that clients take to it.

Usage: listeners_test.py BIN VECTORS PARAMETERS MODULES
"""

import os
import socket
import sys
import unittest

import daemon_fixture as fixture
import http2
import net_fixture as net

MODULES = None


class Listeners(unittest.TestCase):

    def start(self, *flags, **options):
        daemon = fixture.Daemon(*flags, **options)
        self.addCleanup(daemon.close)
        return daemon

    def taken(self):
        """A port that this process has."""
        holder = socket.socket()
        self.addCleanup(holder.close)
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        return holder.getsockname()[1]

    def refused(self, *flags):
        daemon = self.start(*flags, wait=False)
        self.assertEqual(daemon.process.wait(timeout=600), 75, daemon.log())
        return daemon.log()

    def test_the_address_that_is_taken_is_named_with_its_holder(self):
        port = self.taken()
        holder = rf"cannot listen on 127\.0\.0\.1:{port}: process {os.getpid()} \(python3[^)]*\) listens there"
        for first in ("unix:{}/s", "127.0.0.1:0"):
            first = first.format(net.folder_for(self))
            said = self.refused("--listen", f"{first},127.0.0.1:{port}")
            self.assertRegex(said, f"cuzkd: listen: {holder}")
            self.assertNotIn(f"cannot listen on {first}", said)
        self.assertRegex(self.refused("--http.listen", f"127.0.0.1:{port}"), f"cuzkd: http.listen: {holder}")

    def test_a_socket_that_is_served_is_left_alone(self):
        first = self.start()
        said = self.refused("--listen", first.address)
        self.assertIn("another process answers", said)
        self.assertEqual(first.control("status").code, 0)

    def test_a_socket_that_is_removed_or_replaced_is_told_by_readyz(self):
        daemon = self.start()
        ready = lambda: net.http_get(daemon, "/readyz")
        self.assertEqual(ready()[0], 200)
        away = daemon.folder / "away"
        daemon.socket.rename(away)
        net.wait_for(lambda: ready()[0] == 503, "it is told")
        self.assertIn(f"clients are not served at {daemon.address}: No such file or directory", ready()[1])
        net.wait_for(lambda: "refusing jobs: clients are not served" in daemon.log(), "the log says so")
        self.assertEqual(net.metrics(daemon)["cuzk_ready"], 0)
        away.rename(daemon.socket)
        net.wait_for(lambda: ready()[0] == 200, "it recovers")

    def test_health_of_a_kind_tells_whether_its_parameters_are_there(self):
        folder = net.folder_for(self)
        for path in fixture.PARAMS.iterdir():
            os.symlink(path, folder / path.name)
        daemon = self.start(params=folder)
        health = lambda kind: net.client(MODULES, "health", daemon.address, kind)["check"]
        kinds = ("porep", "window", "winning", "snap")
        self.assertEqual([health(kind) for kind in kinds], ["SERVING"] * 4)
        gone = [path for path in folder.iterdir() if "update" in path.name]
        self.assertTrue(gone)
        for path in gone:
            path.rename(folder.parent / f"{folder.name}-{path.name}")
            self.addCleanup(os.unlink, folder.parent / f"{folder.name}-{path.name}")
        net.wait_for(lambda: health("snap") == "NOT_SERVING", "snap is not served", seconds=60)
        self.assertEqual([health(kind) for kind in ("", "porep", "window", "winning")], ["SERVING"] * 4)

    def test_reflection_answers_in_both_versions(self):
        """A list of services, and the file of a method, from v1 and from its predecessor."""
        daemon = self.start()
        method = b"cuzk.v1.ProvingEngine.SubmitProof"
        for version in ("v1", "v1alpha"):
            connection = http2.Connection(daemon.socket)
            self.addCleanup(connection.close)
            path = f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo"
            connection.call(1, path, b"\x3a\x00", end=False)  # list_services
            connection.message(1, b"\x22" + bytes([len(method)]) + method)  # file_containing_symbol
            connection.message(1, b"\x22\x04none", end=True)
            answers = b"".join(payload for kind, payload in connection.frames_of(1) if kind == http2.DATA)
            for part in (b"cuzkd.v1.Operator", b"cuzk/v1/proving.proto", b"SubmitProofRequest"):
                self.assertIn(part, answers, version)
            self.assertIn(b"grpc.reflection.v1.ServerReflection", answers, version)

    def test_a_deadline_that_no_clock_has_is_none(self):
        """The largest that grpc-go writes, 2562048H, and the largest that can be written."""
        daemon = self.start()
        connection = http2.Connection(daemon.socket)
        self.addCleanup(connection.close)
        submit = b"\x10\x01\x52\x02{}"  # a PoRep whose C1 has nothing in it
        message = b"\x0a" + bytes([len(submit)]) + submit
        for stream, timeout in enumerate(("2562048H", "99999999H", "99999999S", "1n")):
            stream = 2 * stream + 1
            block = http2.headers_of_call("/cuzk.v1.ProvingEngine/Prove", ("grpc-timeout", timeout))
            connection.send(http2.HEADERS, http2.END_HEADERS, block, stream)
            connection.message(stream, message, end=True)
            said = b"".join(payload for _, payload in connection.frames_of(stream))
            self.assertEqual(b"C1" in said, timeout != "1n", (timeout, said))
            self.assertTrue(timeout == "1n" or b"deadline passed" not in said, said)


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    MODULES = sys.argv[4]
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
