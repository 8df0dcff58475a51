#!/usr/bin/env python3
"""What systemd hears and sends: readiness, progress, the watchdog, signals, exit codes.

Usage: supervision_test.py BIN VECTORS PARAMETERS
"""

import contextlib
import pathlib
import re
import resource
import signal
import socket
import sqlite3
import sys
import threading
import time
import unittest

import daemon_fixture as fixture
import net_fixture as net
from daemon_fixture import requests


class Supervised(unittest.TestCase):

    def setUp(self):
        self.folder = net.folder_for(self)
        self.systemd = net.Systemd(self.folder)
        self.addCleanup(self.systemd.close)

    def start(self, *flags, environment=None, **options):
        daemon = net.FaultyDaemon(*flags, environment={"NOTIFY_SOCKET": self.systemd.path, **(environment or {})}, **options)
        self.addCleanup(daemon.close)
        return daemon

    def submit(self, daemon, name, kind="winning"):
        answer = daemon.control("--json", "submit", "--request", requests(kind)[0], "--id", name)
        self.assertEqual(answer.code, 0, answer)

    def end(self, daemon, code=0):
        self.assertEqual(daemon.process.wait(timeout=600), code, daemon.log())


class Start(Supervised):

    def test_ready_comes_after_the_parameters(self):
        daemon = self.start("--params.preload", "winning-2k", environment={"FAULTY_CUZKD_HOLD_LOADS": "1"})
        self.systemd.wait_for("STATUS=loading winning-2k")
        self.systemd.wait_for("EXTEND_TIMEOUT_USEC=")
        self.assertNotIn("READY=1", self.systemd.receive())
        # Meanwhile it answers, and says why it takes nothing.
        self.assertEqual(net.http_get(daemon, "/healthz")[0], 200)
        code, text = net.http_get(daemon, "/readyz")
        self.assertEqual((code, "starting" in text), (503, True), text)
        self.assertEqual(daemon.control("status").code, 0)
        refused = daemon.control("prove", "--request", requests("winning")[0])
        self.assertEqual(refused.code, 3, refused)
        self.assertIn("starting", refused.err + refused.out)
        daemon.tell("release")
        self.systemd.wait_for("READY=1")
        self.systemd.wait_for("STATUS=serving")
        self.assertEqual(net.http_get(daemon, "/readyz")[0], 200)
        self.assertEqual(daemon.control("prove", "--request", requests("winning")[0]).code, 0)

    def test_jobs_are_taken_before_the_parameters_when_that_is_set(self):
        daemon = self.start("--params.preload", "wpost-2k", "--params.ready_before_preload", "true",
                            environment={"FAULTY_CUZKD_HOLD_LOADS": "1"})
        self.assertEqual(net.http_get(daemon, "/readyz")[0], 200)
        self.submit(daemon, "early")
        daemon.tell("release")
        self.assertEqual(daemon.control("await", "early").code, 0)

    def test_sigterm_is_heard_while_parameters_are_loaded(self):
        daemon = self.start("--params.preload", "winning-2k", environment={"FAULTY_CUZKD_HOLD_LOADS": "1"})
        self.systemd.wait_for("STATUS=loading")
        daemon.terminate()
        self.end(daemon)
        self.assertIn("STOPPING=1", self.systemd.receive())
        self.assertNotIn("READY=1", self.systemd.receive())

    def test_parameters_that_are_missing_end_it(self):
        daemon = self.start("--params.preload", "porep-512m", wait=False)
        self.end(daemon, 78)
        self.assertIn("params.preload: porep-512m", daemon.log())
        self.assertNotIn("READY=1", self.systemd.receive())

    def test_without_systemd_nothing_is_missed(self):
        daemon = net.FaultyDaemon(environment={"NOTIFY_SOCKET": str(self.folder / "nobody")})
        self.addCleanup(daemon.close)
        self.assertEqual(daemon.control("status").code, 0)


class StateDisk(Supervised):

    def test_readiness_tells_when_no_job_can_be_kept_and_recovers(self):
        daemon = self.start()
        self.systemd.wait_for("READY=1")
        folder, away = daemon.folder / "state", daemon.folder / "away"
        self.assertEqual(net.http_get(daemon, "/readyz")[0], 200)
        folder.rename(away)
        net.wait_for(lambda: net.http_get(daemon, "/readyz")[0] == 503, "it is told")
        text = net.http_get(daemon, "/readyz")[1]
        self.assertIn("jobs.state_directory: no job can be stored: ", text)
        self.assertIn(str(folder), text)
        self.assertEqual(net.metrics(daemon)["cuzk_ready"], 0)
        net.wait_for(lambda: "refusing jobs: jobs.state_directory" in daemon.log(), "the log says so")
        self.systemd.wait_for("STATUS=refusing jobs: jobs.state_directory")
        away.rename(folder)
        net.wait_for(lambda: net.http_get(daemon, "/readyz")[0] == 200, "it recovers")
        net.wait_for(lambda: daemon.log().count("accepting jobs") == 2, "the log says so")


    def test_a_store_that_another_program_has_locked_is_told_and_its_end_too(self):
        daemon = self.start()
        self.systemd.wait_for("READY=1")
        with contextlib.closing(sqlite3.connect(daemon.folder / "state" / "jobs.sqlite", isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            # A WinningPoSt would be proved without being stored.
            refused = daemon.control("submit", "--request", requests("window")[0], "--id", "locked out")
            self.assertEqual(refused.code, 3, refused)  # UNAVAILABLE
            self.assertIn("database is locked", refused.err)
            net.wait_for(lambda: net.http_get(daemon, "/readyz")[0] == 503, "it is told")
            self.assertRegex(net.http_get(daemon, "/readyz")[1], "another program has .*jobs.sqlite locked")
        net.wait_for(lambda: net.http_get(daemon, "/readyz")[0] == 200, "it is ready again")
        self.submit(daemon, "let in")


class OpenFiles(Supervised):

    def test_as_many_files_as_the_hard_limit_allows_may_be_open(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        daemon = self.start()
        self.assertEqual(resource.prlimit(daemon.process.pid, resource.RLIMIT_NOFILE), (hard, hard))

    def test_a_daemon_without_free_files_says_so_and_goes_on_once_there_are_some(self):
        daemon = self.start()
        self.systemd.wait_for("READY=1")
        open_now = {int(entry.name) for entry in pathlib.Path(f"/proc/{daemon.process.pid}/fd").iterdir()}
        lowest = next(number for number in range(len(open_now) + 1) if number not in open_now)
        hard = resource.prlimit(daemon.process.pid, resource.RLIMIT_NOFILE)[1]
        resource.prlimit(daemon.process.pid, resource.RLIMIT_NOFILE, (lowest, hard))
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(daemon.socket))
            net.wait_for(lambda: "no connection can be accepted: Too many open files" in daemon.log(), "the log says so")
            self.assertIn("raise LimitNOFILE", daemon.log())
            # systemd can not be told without a descriptor; the log needs none.
            net.wait_for(lambda: re.search("refusing jobs: .*Too many open files", daemon.log()), "it is not ready")
            self.assertEqual(daemon.log().count("no connection can be accepted"), 1)
        resource.prlimit(daemon.process.pid, resource.RLIMIT_NOFILE, (hard, hard))
        self.assertEqual(daemon.control("status").code, 0)
        net.wait_for(lambda: net.http_get(daemon, "/readyz")[0] == 200, "it is ready again")


class Watchdog(Supervised):
    PATIENCE = 2.0  # seconds: WATCHDOG_USEC

    def start(self, *flags, **options):
        daemon = super().start(*flags, environment={"WATCHDOG_USEC": str(int(self.PATIENCE * 1e6))}, **options)
        self.systemd.wait_for("READY=1")
        return daemon

    def quiet(self):
        """Whether no ping came for as long as systemd would wait."""
        self.systemd.forget()
        time.sleep(self.PATIENCE)
        return "WATCHDOG=1" not in self.systemd.receive()

    def test_it_pings_while_idle_and_while_proving(self):
        daemon = self.start()
        self.systemd.wait_for("WATCHDOG=1", count=3)
        self.systemd.forget()
        # How long a partition may take without being noticed is not this machine's to say: tests/unit/daemon/app/watch/liveness_test.cc.
        for _ in range(3):
            self.assertEqual(daemon.control("prove", "--request", requests("winning")[0]).code, 0)
        self.systemd.wait_for("WATCHDOG=1", count=2)

    def test_a_hung_device_stops_the_pings_and_a_released_one_brings_them_back(self):
        daemon = self.start()
        self.assertEqual(daemon.control("prove", "--request", requests("winning")[0]).code, 0)
        daemon.tell("hold")
        self.submit(daemon, "hung")
        daemon.wait_until_held()
        net.wait_for(self.quiet, "the pings stop")
        self.assertRegex(daemon.log(), r"watchdog: device 0 \(cpu.*\) makes no progress")
        # Calls are answered all the while: a timer or a serving thread alone would have gone on pinging.
        self.assertEqual(daemon.control("status").code, 0)
        daemon.tell("release")
        self.assertEqual(daemon.control("await", "hung").code, 0)
        self.systemd.forget()
        self.systemd.wait_for("WATCHDOG=1", count=2)
        self.assertIn("watchdog: there is progress again", daemon.log())

    def test_a_process_that_was_stopped_for_long_blames_no_device(self):
        """As by `systemctl freeze`, or when the machine is suspended: every clock goes on, and no work does."""
        daemon = self.start()
        daemon.tell("hold")
        self.submit(daemon, "held")
        daemon.wait_until_held()
        daemon.process.send_signal(signal.SIGSTOP)
        time.sleep(2 * self.PATIENCE)
        self.systemd.forget()
        daemon.process.send_signal(signal.SIGCONT)
        self.systemd.wait_for("WATCHDOG=1")
        self.assertNotIn("makes no progress", daemon.log())
        daemon.tell("release")
        self.assertEqual(daemon.control("await", "held").code, 0)

    def test_nobody_is_pinged_who_did_not_ask(self):
        daemon = net.FaultyDaemon(environment={"NOTIFY_SOCKET": self.systemd.path, "WATCHDOG_USEC": "200000",
                                               "WATCHDOG_PID": "1"})
        self.addCleanup(daemon.close)
        self.systemd.wait_for("READY=1")
        # Each change is told at a look of the heartbeat, and a ping would go out at every look.
        self.systemd.wait_for("STATUS=serving: 0 running")
        for number in range(1, 4):
            daemon.tell("hold")
            self.submit(daemon, str(number))
            self.systemd.wait_for("STATUS=serving: 1 running", count=number)
            daemon.tell("release")
            self.assertEqual(daemon.control("await", str(number)).code, 0)
            self.systemd.wait_for("STATUS=serving: 0 running", count=number + 1)
        self.assertNotIn("WATCHDOG=1", self.systemd.receive())


class End(Supervised):

    def test_draining_is_told_and_extended(self):
        daemon = self.start()
        daemon.tell("hold")
        self.submit(daemon, "last")
        daemon.wait_until_held()
        self.systemd.forget()
        daemon.terminate()
        self.systemd.wait_for("STATUS=draining: 1 running")
        self.systemd.wait_for("EXTEND_TIMEOUT_USEC=")
        lines = self.systemd.receive()
        self.assertLess(lines.index("STOPPING=1"), next(i for i, line in enumerate(lines) if line.startswith("EXTEND")))
        daemon.tell("release")
        self.end(daemon)

    def test_the_last_device_lost_ends_it_with_70(self):
        daemon = self.start("--jobs.state_directory", "")
        daemon.tell("hold")
        answers = []
        caller = threading.Thread(target=lambda: answers.append(
            daemon.control("--json", "prove", "--request", requests("winning")[0])))
        caller.start()
        daemon.wait_until_held()
        daemon.tell("lose")
        self.end(daemon, 70)
        caller.join()
        self.assertIn(answers[0].code, (1, 3), answers)
        self.assertIn("no device is left", daemon.log())
        self.assertIn("STOPPING=1", self.systemd.receive())
        self.assertFalse(daemon.socket.exists())

    def test_a_lost_device_keeps_stored_jobs_for_the_next_start(self):
        daemon = self.start()
        daemon.tell("hold")
        self.submit(daemon, "kept")
        daemon.wait_until_held()
        daemon.tell("lose")
        self.end(daemon, 70)
        again = self.start(folder=daemon.folder)
        proof = self.folder / "proof"
        self.assertEqual(again.control("await", "kept", "--out", proof).code, 0)
        self.assertEqual(proof.stat().st_size, 192)

    def test_other_signals_change_nothing(self):
        daemon = self.start()
        for sig in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGPIPE):
            daemon.terminate(sig)
        self.assertEqual(daemon.control("prove", "--request", requests("winning")[0]).code, 0)
        daemon.terminate(signal.SIGINT)
        self.end(daemon)

    def start_draining(self):
        """A daemon that waits for one job whose device is held."""
        daemon = self.start()
        daemon.tell("hold")
        self.submit(daemon, "last")
        daemon.wait_until_held()
        daemon.terminate()
        self.systemd.wait_for("STATUS=draining")
        return daemon

    def test_sigusr1_does_not_end_a_drain(self):
        daemon = self.start_draining()
        daemon.terminate(signal.SIGUSR1)
        self.assertEqual(daemon.control("status").code, 0)
        self.assertIsNone(daemon.process.poll(), daemon.log())
        daemon.tell("release")
        self.end(daemon)

    def test_sighup_while_draining_is_ignored(self):
        daemon = self.start_draining()
        daemon.terminate(signal.SIGHUP)
        daemon.tell("release")
        self.end(daemon)
        self.assertNotIn("RELOADING=1", self.systemd.receive())


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
