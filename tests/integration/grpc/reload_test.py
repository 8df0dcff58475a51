#!/usr/bin/env python3
"""SIGHUP: what changes, what does not, and what a bad file does.

Usage: reload_test.py BIN VECTORS PARAMETERS
"""

import re
import signal
import sys
import time
import unittest

import daemon_fixture as fixture
import net_fixture as net
from daemon_fixture import requests


class Reload(unittest.TestCase):

    def setUp(self):
        self.folder = net.folder_for(self)
        self.file = self.folder / "cuzkd.toml"

    def start(self, text, **options):
        self.file.write_text(text)
        self.systemd = net.Systemd(self.folder)
        self.addCleanup(self.systemd.close)
        daemon = net.FaultyDaemon("--config", self.file, environment={"NOTIFY_SOCKET": self.systemd.path}, **options)
        self.addCleanup(daemon.close)
        self.systemd.wait_for("READY=1")
        return daemon

    def reload(self, daemon, text):
        self.file.write_text(text)
        self.systemd.forget()
        daemon.terminate(signal.SIGHUP)
        self.systemd.wait_for("READY=1")

    def settings(self, daemon):
        answer = daemon.control("--json", "status")
        self.assertEqual(answer.code, 0, answer)
        return answer

    def submit(self, daemon, name):
        # Not a WinningPoSt, which has a reserve.
        return daemon.control("--json", "submit", "--request", requests("window")[0], "--id", name)

    def test_systemd_is_told_when_it_begins_and_ends(self):
        daemon = self.start("")
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        self.reload(daemon, "")
        lines = self.systemd.receive()
        self.assertLess(lines.index("RELOADING=1"), lines.index("READY=1"))
        stamp = next(line for line in lines if line.startswith("MONOTONIC_USEC="))
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        self.assertTrue(before <= int(stamp.split("=")[1]) <= now, (before, stamp, now))

    def test_the_log_level_changes(self):
        daemon = self.start('[log]\nlevel = "info"\n')
        self.reload(daemon, '[log]\nlevel = "error"\n')
        size = len(daemon.log())
        self.assertEqual(daemon.control("prove", "--request", requests("winning")[0]).code, 0)
        self.assertNotIn("proof verified", daemon.log()[size:])
        self.reload(daemon, '[log]\nlevel = "info"\n')
        self.assertEqual(daemon.control("prove", "--request", requests("winning")[0]).code, 0)
        self.assertIn("proof verified", daemon.log()[size:])

    def test_the_limits_of_the_queue_change(self):
        daemon = self.start("[jobs]\nqueue = 1\n")
        daemon.tell("hold")
        self.assertEqual(self.submit(daemon, "one").code, 0)
        self.assertEqual(self.submit(daemon, "two").code, 3)
        self.reload(daemon, "[jobs]\nqueue = 2\nresults = 1\n")
        self.assertIn("settings changed: jobs.queue, jobs.results", daemon.log())
        self.assertEqual(self.submit(daemon, "two").code, 0)
        self.assertEqual(self.submit(daemon, "three").code, 3)
        daemon.tell("release")
        for name in ("one", "two"):
            net.wait_for(lambda name=name: daemon.control("await", name).code in (0, 6))
        net.wait_for(lambda: [daemon.control("await", name).code for name in ("one", "two")].count(0) == 1,
                     "one result is kept")

    def test_what_needs_a_restart_is_named_and_stays(self):
        daemon = self.start("[jobs]\nqueue = 5\n[devices]\nworkers = 2\n")
        self.reload(daemon, '[jobs]\nqueue = 6\n[devices]\nworkers = 3\n[grpc]\nmax_calls = 9\n')
        self.assertIn("these settings changed but need a restart: grpc.max_calls, devices.workers", daemon.log())
        self.assertEqual(net.metrics(daemon)["cuzk_config_last_reload_successful"], 1)
        # Nothing is left to say when the file is as the daemon runs.
        size = len(daemon.log())
        self.reload(daemon, "[jobs]\nqueue = 6\n[devices]\nworkers = 2\n")
        self.assertNotIn("need a restart", daemon.log()[size:])

    def test_tls_cannot_be_turned_on(self):
        daemon = self.start("")
        certificates = net.Certificates(self.folder)
        certificate, key = certificates.sign("server", 1)
        listen = f"127.0.0.1:{net.free_port()}"
        self.reload(daemon, f'[tls]\ncertificate = "{certificate}"\nkey = "{key}"\n')
        # The flag --listen has no HOST:PORT, so these settings as a whole are wrong.
        self.assertEqual(net.metrics(daemon)["cuzk_config_last_reload_successful"], 0)
        second = net.FaultyDaemon("--listen", listen, "--config", self.file)
        self.addCleanup(second.close)
        self.file.write_text("")
        second.terminate(signal.SIGHUP)
        net.wait_for(lambda: "changed but need a restart: tls.certificate, tls.key" in second.log())

    def test_a_bad_file_changes_nothing(self):
        daemon = self.start("[jobs]\nqueue = 1\n")
        good = net.metrics(daemon)
        self.assertEqual(good["cuzk_config_last_reload_successful"], 1)
        for text in ('[jobs]\nqueue = "many"\n', "[jobs\n", "[jobs]\nqueue = 0\n", "[srs]\npreload = []\n",
                     '[jobs]\nqueue = 7\n[log]\nlevel = "loud"\n', '[jobs]\nqueue = 7\n[memory]\nbudget = "1B"\n'):
            with self.subTest(text=text):
                size = len(daemon.log())
                self.reload(daemon, text)
                said = daemon.log()[size:]
                self.assertIn("the previous settings stay in force", said)
                if "budget" not in text and "queue = 0" not in text:
                    self.assertRegex(said, re.escape(str(self.file)) + r":\d")
                now = net.metrics(daemon)
                self.assertEqual(now["cuzk_config_last_reload_successful"], 0)
                self.assertEqual(now["cuzk_config_last_reload_success_timestamp_seconds"],
                                 good["cuzk_config_last_reload_success_timestamp_seconds"])
        daemon.tell("hold")
        self.assertEqual(self.submit(daemon, "one").code, 0)
        self.assertEqual(self.submit(daemon, "two").code, 3)
        self.file.unlink()
        self.systemd.forget()
        daemon.terminate(signal.SIGHUP)
        self.systemd.wait_for("READY=1")
        self.assertEqual(net.metrics(daemon)["cuzk_config_last_reload_successful"], 0)
        self.reload(daemon, "[jobs]\nqueue = 2\n")
        now = net.metrics(daemon)
        self.assertEqual(now["cuzk_config_last_reload_successful"], 1)
        self.assertGreater(now["cuzk_config_last_reload_success_timestamp_seconds"],
                           good["cuzk_config_last_reload_success_timestamp_seconds"])
        self.assertEqual(self.submit(daemon, "two").code, 0)

    def test_idle_parameters_go_after_their_time(self):
        daemon = self.start('[params]\npreload = ["wpost-2k"]\n')
        self.assertEqual(daemon.control("preload", "winning-2k").code, 0)
        loaded = lambda: {s["circuit_id"] for s in daemon.control("--json", "status").json().get("loaded_srs", [])}
        self.assertEqual(loaded(), {"winning-2k", "wpost-2k"})
        self.reload(daemon, '[params]\npreload = ["wpost-2k"]\nevict_idle = "1s"\n')
        net.wait_for(lambda: loaded() == {"wpost-2k"}, "idle parameters are dropped, preloaded ones stay")
        self.assertIn("idle parameters unloaded", daemon.log())
        self.assertEqual(daemon.control("prove", "--request", requests("winning")[0]).code, 0)


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
