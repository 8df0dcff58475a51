#!/usr/bin/env python3
"""Unix socket, TCP, TLS and mTLS, each spoken by an independent client; certificates that change; files that are wrong.

Usage: tls_test.py BIN VECTORS PARAMETERS MODULES
"""

import os
import shutil
import signal
import ssl
import socket
import sys
import unittest

import daemon_fixture as fixture
import net_fixture as net
from daemon_fixture import Daemon, requests, run

MODULES = None
KINDS = ("", "cuzk.v1.ProvingEngine", "porep", "window", "winning", "snap")


class Listeners(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = fixture.pathlib.Path(fixture.tempfile.mkdtemp(prefix="cuzk-net-"))
        cls.authority = net.Certificates(cls.folder)
        cls.server = cls.authority.sign("server", 1)
        cls.user = cls.authority.sign("user", 2)
        cls.stranger = net.Certificates(cls.folder, "stranger").sign("intruder", 3)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def start(self, *flags, **options):
        daemon = Daemon(*flags, **options)
        self.addCleanup(daemon.close)
        return daemon

    def start_tls(self, *flags):
        self.port = net.free_port()
        self.address = f"127.0.0.1:{self.port}"
        return self.start("--listen", self.address, "--tls.certificate", self.server[0], "--tls.key", self.server[1], *flags)

    def check_everything(self, address, tls=None):
        """A proof, health checks of both kinds, reflection."""
        proof = self.folder / "proof"
        result = net.client(MODULES, "prove", address, requests("winning")[0], proof, tls=tls)
        self.assertEqual(result["status"], "COMPLETED", result)
        self.assertEqual(proof.stat().st_size, 192)
        for name in KINDS:
            self.assertEqual(net.client(MODULES, "health", address, name, tls=tls), {"check": "SERVING", "watch": "SERVING"})
        self.assertEqual(net.client(MODULES, "health", address, "nobody", tls=tls),
                         {"check": "NOT_FOUND", "watch": "SERVICE_UNKNOWN"})
        services = net.client(MODULES, "services", address, tls=tls)
        self.assertIn("cuzk.v1.ProvingEngine", services)
        self.assertIn("cuzkd.v1.Operator", services)

    def refused(self, tls=None):
        answer = net.client(MODULES, "call", self.address, "GetStatus", "{}", tls=tls)
        self.assertEqual(answer.get("code"), "UNAVAILABLE", answer)

    def serial(self):
        """Of the certificate that the server shows now."""
        context = ssl.create_default_context(cafile=str(self.authority.ca))
        context.set_alpn_protocols(["h2"])
        with socket.create_connection(("127.0.0.1", self.port)) as plain:
            with context.wrap_socket(plain, server_hostname="localhost") as secure:
                return int(secure.getpeercert()["serialNumber"], 16)

    def test_unix_socket(self):
        self.check_everything(self.start().address)

    def test_abstract_unix_socket(self):
        name = f"unix-abstract:cuzkd-test-{os.getpid()}"
        self.start("--listen", name)
        self.assertEqual(fixture.control("--address", name, "status").code, 0)

    def test_tcp(self):
        address = f"127.0.0.1:{net.free_port()}"
        self.start("--listen", address)
        self.check_everything(address)

    def test_tls(self):
        daemon = self.start_tls()
        self.assertIn("(TLS)", daemon.log())
        self.check_everything(self.address, tls={"ca": self.authority.ca})
        self.refused()  # plaintext
        self.refused(tls={"ca": self.stranger[0]})
        self.assertGreater(net.metrics(daemon)["cuzk_tls_certificate_expiry_timestamp_seconds"], fixture.time.time())

    def test_unix_sockets_beside_tls_stay_plain(self):
        path = self.folder / "plain"
        self.port = net.free_port()
        self.start("--listen", f"unix:{path},127.0.0.1:{self.port}", "--tls.certificate", self.server[0], "--tls.key",
                   self.server[1])
        self.assertEqual(fixture.control("--address", f"unix:{path}", "status").code, 0)
        self.assertEqual(self.serial(), 1)

    def test_mtls(self):
        self.start_tls("--tls.client_ca", self.authority.ca)
        known = {"ca": self.authority.ca, "cert": self.user[0], "key": self.user[1]}
        self.check_everything(self.address, tls=known)
        self.refused()
        self.refused(tls={"ca": self.authority.ca})  # no certificate
        self.refused(tls={"ca": self.authority.ca, "cert": self.stranger[0], "key": self.stranger[1]})

    def control(self, *arguments, code=0):
        """cuzkctl at the address of the daemon; returns what it complains about."""
        answer = fixture.control("--address", self.address, *arguments)
        self.assertEqual(answer.code, code, answer)
        return answer.err

    def test_cuzkctl_speaks_tls(self):
        self.start_tls()
        known = ("--tls-ca", self.authority.ca)
        self.control(*known, "status")
        self.control(*known, "--tls-server-name", "localhost", "top", "--count", "1")
        self.control(*known, "prove", "--request", requests("winning")[0], "--out", self.folder / "by-control")
        self.assertEqual((self.folder / "by-control").stat().st_size, 192)
        self.control("status", code=3)  # plaintext
        said = self.control("--tls-ca", self.stranger[0], "status", code=3)
        self.assertIn("the daemon's certificate (/CN=server): unable to get local issuer certificate", said)
        said = self.control(*known, "--tls-server-name", "elsewhere", "status", code=3)
        self.assertIn("hostname mismatch; it was not issued for elsewhere", said)

    def test_cuzkctl_speaks_mtls(self):
        self.start_tls("--tls.client_ca", self.authority.ca)
        known = ("--tls-ca", self.authority.ca)
        self.control(*known, "--tls-cert", self.user[0], "--tls-key", self.user[1], "status")
        self.control(*known, "--tls-cert", self.user[0], "--tls-key", self.user[1], "prove", "--request",
                     requests("winning")[0])
        said = self.control(*known, "status", code=3)
        self.assertIn("does it require a client certificate (--tls-cert, --tls-key)?", said)
        said = self.control(*known, "--tls-cert", self.stranger[0], "--tls-key", self.stranger[1], "status", code=3)
        self.assertIn("was --tls-cert signed by an authority in its tls.client_ca?", said)

    def test_cuzkctl_says_what_is_wrong_with_certificates(self):
        self.server = self.authority.sign("old", 6, days=0)
        self.start_tls()
        self.assertIn("(/CN=old): certificate has expired", self.control("--tls-ca", self.authority.ca, "status", code=3))
        plain = f"127.0.0.1:{net.free_port()}"
        self.start("--listen", plain)
        answer = fixture.control("--address", plain, "--tls-ca", self.authority.ca, "status")
        self.assertEqual(answer.code, 3, answer)
        self.assertIn("the daemon does not use TLS at this address", answer.err)

    def test_cuzkctl_names_its_files(self):
        self.address = "127.0.0.1:1"
        text = self.folder / "words"
        text.write_text("no PEM\n")
        text.chmod(0o600)
        opened = self.folder / "opened.key"
        shutil.copy(self.user[1], opened)
        opened.chmod(0o644)
        locked = self.authority.sign("shut", 10, encrypt=True)
        known = self.authority.ca
        for authority, certificate, key, named, words in (
                (self.folder / "none.crt", *self.user, "none.crt", "--tls-ca"),
                (text, *self.user, str(text), "no PEM certificate"),
                (known, text, self.user[1], str(text), "--tls-cert"),
                (known, self.user[0], text, str(text), "no PEM private key"),
                (known, self.user[0], self.server[1], str(self.server[1]), "is not the key of"),
                (known, *locked, str(locked[1]), "pass phrase"),
                (known, self.user[0], opened, str(opened), "other users can read it")):
            with self.subTest(words=words):
                said = self.control("--tls-ca", authority, "--tls-cert", certificate, "--tls-key", key, "status", code=2)
                self.assertIn(named, said)
                self.assertIn(words, said)
        self.control("--tls-cert", self.user[0], "--tls-key", self.user[1], "status", code=2)  # whom to trust?
        self.control("--tls-ca", known, "--tls-cert", self.user[0], "status", code=2)
        self.control("--tls-ca", known, "--tls-key", self.user[1], "status", code=2)
        self.control("--tls-server-name", "x", "status", code=2)
        self.address = f"unix:{self.folder}/nobody"
        self.assertIn("does not use TLS", self.control("--tls-ca", known, "status", code=2))

    def test_a_replaced_certificate_is_shown_after_sighup(self):
        certificate, key = (self.folder / name for name in ("live.crt", "live.key"))
        shutil.copy(self.server[0], certificate)
        shutil.copy(self.server[1], key)
        self.port = net.free_port()
        self.address = f"127.0.0.1:{self.port}"
        daemon = self.start("--listen", self.address, "--tls.certificate", certificate, "--tls.key", key)
        self.assertEqual(self.serial(), 1)
        other = self.authority.sign("renewed", 77)
        shutil.copy(other[0], certificate)
        # The key does not fit: the old pair stays, and the daemon says which file.
        daemon.terminate(signal.SIGHUP)
        net.wait_for(lambda: "the reload failed" in daemon.log())
        self.assertIn(str(key), daemon.log())
        self.assertEqual(net.metrics(daemon)["cuzk_config_last_reload_successful"], 0)
        self.assertEqual(self.serial(), 1)
        shutil.copy(other[1], key)
        daemon.terminate(signal.SIGHUP)
        net.wait_for(lambda: "reloaded" in daemon.log())
        self.assertEqual(self.serial(), 77)
        self.assertEqual(net.metrics(daemon)["cuzk_config_last_reload_successful"], 1)
        self.check_everything(self.address, tls={"ca": self.authority.ca})

    def check_config(self, *flags):
        return run(fixture.BIN / "cuzkd", "--check-config", "--listen", "127.0.0.1:0", *flags)

    def test_files_that_are_wrong_are_named(self):
        certificate, key = self.server
        text = self.folder / "text"
        text.write_text("no PEM\n")
        broken = self.folder / "broken.crt"
        broken.write_text(certificate.read_text() + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
        locked = self.authority.sign("locked", 9, encrypt=True)
        cases = (  # certificate, key, client CA, exit, what is named, words
            (self.folder / "no.crt", key, "", 78, "no.crt", "tls.certificate"),
            (certificate, self.folder / "no.key", "", 78, "no.key", "tls.key"),
            (text, key, "", 78, str(text), "no PEM certificate"),
            (broken, key, "", 78, str(broken), "broken"),
            (certificate, text, "", 78, str(text), "no PEM private key"),
            (certificate, self.user[1], "", 78, str(self.user[1]), "is not the key"),
            (*locked, "", 78, str(locked[1]), "pass phrase"),
            (certificate, key, text, 78, str(text), "tls.client_ca"),
            (certificate, "", "", 78, "tls.key", "must be given"),
            ("", key, "", 78, "tls.certificate", "must be given"),
            ("", "", self.authority.ca, 78, "tls.certificate", "must be given"))
        text.chmod(0o600)
        for own, secret, ca, code, named, words in cases:
            with self.subTest(named=named, words=words):
                answer = self.check_config("--tls.certificate", own, "--tls.key", secret, "--tls.client_ca", ca)
                self.assertEqual(answer.code, code, answer)
                self.assertIn(named, answer.err)
                self.assertIn(words, answer.err)
        self.assertEqual(self.check_config("--tls.certificate", certificate, "--tls.key", key).code, 0)

    def test_a_key_that_others_can_read_is_refused(self):
        key = self.folder / "open.key"
        shutil.copy(self.server[1], key)
        for mode, fits in ((0o644, False), (0o660, False), (0o604, False), (0o600, True), (0o400, True)):
            key.chmod(mode)
            answer = self.check_config("--tls.certificate", self.server[0], "--tls.key", key)
            self.assertEqual(answer.code, 0 if fits else 77, (oct(mode), answer))
            if not fits:
                self.assertIn(str(key), answer.err)

    def test_other_machines_need_tls_or_a_permission(self):
        self.assertIn("tls.certificate", run(fixture.BIN / "cuzkd", "--check-config", "--listen", "0.0.0.0:0").err)
        for flags in (("--tls.certificate", self.server[0], "--tls.key", self.server[1]), ("--grpc.allow_plaintext", "true")):
            self.assertEqual(run(fixture.BIN / "cuzkd", "--check-config", "--listen", "0.0.0.0:0", *flags).code, 0)
        unused = run(fixture.BIN / "cuzkd", "--check-config", "--tls.certificate", self.server[0], "--tls.key", self.server[1])
        self.assertEqual(unused.code, 78, unused)
        self.assertIn("HOST:PORT", unused.err)

    def test_an_expired_certificate_is_served_with_a_warning(self):
        expired = self.authority.sign("expired", 5, days=0)
        daemon = self.start("--listen", f"127.0.0.1:{net.free_port()}", "--tls.certificate", expired[0], "--tls.key",
                            expired[1])
        self.assertIn("tls.certificate has expired", daemon.log())


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    MODULES = sys.argv[4]
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
