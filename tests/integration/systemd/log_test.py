#!/usr/bin/env python3
"""What the daemon writes and what it inherits: log lines, the journal, the environment, --version.

Usage: log_test.py BIN VECTORS PARAMETERS
"""

import fcntl
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest

import daemon_fixture as fixture
import net_fixture as net
from daemon_fixture import requests, run


class JournalDaemon(net.FaultyDaemon):
    """Its stderr is what JOURNAL_STREAM names."""

    def variables(self, log):
        info = os.fstat(log.fileno())
        return {**super().variables(log), "JOURNAL_STREAM": f"{info.st_dev}:{info.st_ino}"}


class StalledReader(net.FaultyDaemon):
    """Its stderr is a pipe of one page, read only when the test says so."""

    def __init__(self, *flags):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="cuzkd-"))
        os.mkfifo(folder / "log")
        self.reader = os.open(folder / "log", os.O_RDONLY | os.O_NONBLOCK)
        fcntl.fcntl(self.reader, 1031, 4096)  # F_SETPIPE_SZ
        self.text = ""
        super().__init__(*flags, folder=folder)

    def log(self):
        """What was written so far; makes room in the pipe."""
        try:
            while self.reader is not None and (more := os.read(self.reader, 65536)):
                self.text += more.decode(errors="replace")
        except BlockingIOError:
            pass
        return self.text

    def leave(self):
        """Nobody reads any more."""
        if self.reader is not None:
            os.close(self.reader)
        self.reader = None

    def close(self):
        self.leave()
        super().close()


class ReaderOfTheLog(unittest.TestCase):

    def start(self, *flags):
        daemon = StalledReader("--log.level", "debug", *flags)
        self.addCleanup(daemon.close)
        port = daemon.http_port()
        daemon.http_port = lambda: port  # asking the log for it would make room in the pipe
        return daemon

    def end_jobs(self, daemon, name, count):
        """Jobs that end at once, each with a line of a quarter of the pipe."""
        request = net.folder_for(self)
        for path in requests("winning")[0].iterdir():
            (request / path.name).write_bytes(path.read_bytes())
        next(request.glob("vanilla-*")).write_bytes(b"no vanilla proof")
        for i in range(count):
            answer = daemon.control("prove", "--request", request, "--id", f"{name}{i}-{'x' * 1000}")
            self.assertIn(f"{name}{i}-xxx", answer.out + answer.err)

    def test_one_that_stands_still_stops_nothing(self):
        daemon = self.start()
        self.end_jobs(daemon, "first", 8)
        self.assertEqual(net.http_get(daemon, "/readyz")[0], 200)
        self.assertNotIn("first7-xxx", daemon.text)
        net.wait_for(lambda: "first7-xxx" in daemon.log(), "the lines that had waited")
        self.end_jobs(daemon, "second", 8)
        daemon.terminate()
        self.assertEqual(daemon.process.wait(timeout=600), 0)

    def test_one_that_has_gone_costs_lines_which_are_counted(self):
        daemon = self.start()
        before = net.metrics(daemon)["cuzk_log_dropped_total"]
        daemon.leave()
        self.end_jobs(daemon, "unheard", 2)
        self.assertGreaterEqual(net.metrics(daemon)["cuzk_log_dropped_total"], before + 2)
        daemon.terminate()
        self.assertEqual(daemon.process.wait(timeout=600), 0)


class Log(unittest.TestCase):

    def start(self, *flags, kind=net.FaultyDaemon, **options):
        daemon = kind(*flags, **options)
        self.addCleanup(daemon.close)
        return daemon

    def test_json_lines_have_the_fields_of_their_event(self):
        daemon = self.start("--log.format", "json", "--log.level", "debug")
        self.assertEqual(daemon.control("prove", "--request", requests("winning")[0], "--id", 'a "b"\n\x1b[2J').code, 0)
        lines = [json.loads(line) for line in daemon.log().splitlines()]
        for line in lines:
            self.assertRegex(line["ts"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
            self.assertIn(line["level"], ("debug", "info", "warning", "error"))
            self.assertTrue(line["msg"])
        proved = next(line for line in lines if line["msg"] == "proof verified")
        self.assertEqual((proved["job_id"], proved["kind"]), ('a "b"\n\x1b[2J', "winning"))
        self.assertIsInstance(proved["dur_ms"], int)

    def test_failed_jobs_say_why_and_never_show_their_payload(self):
        folder = net.folder_for(self)
        for path in requests("winning")[0].iterdir():
            content = path.read_bytes()
            (folder / path.name).write_bytes(content)
        secret = b"VERY-SECRET-PAYLOAD-BYTES" * 20
        vanilla = next(folder.glob("vanilla-*"))
        vanilla.write_bytes(vanilla.read_bytes()[:-len(secret)] + secret)
        for form in ("text", "json"):
            daemon = self.start("--log.format", form, "--log.level", "debug")
            daemon.control("prove", "--request", folder, "--id", "bad")
            self.assertNotIn("SECRET", daemon.log())
            self.assertNotIn("SECRET".encode().hex(), daemon.log())
            self.assertIn("bad", daemon.log())

    def test_control_characters_of_a_client_stay_on_their_line(self):
        daemon = self.start()
        name = "x\n<0>forged line\r\x1b[31m\u009b"
        self.assertEqual(daemon.control("prove", "--request", requests("winning")[0], "--id", name).code, 0)
        for line in daemon.log().splitlines():
            self.assertRegex(line, r"^\d{4}-\d\d-\d\dT")
        self.assertNotRegex(daemon.log(), r"[\x00-\x09\x0b-\x1f\x7f\x80-\x9f]")

    def test_the_journal_gets_priorities(self):
        for form, line in (("text", r"^<[3-7]>(debug|info|warning|error) "), ("json", r'^<[3-7]>\{"ts":"')):
            daemon = self.start("--log.format", form, kind=JournalDaemon)
            for text in daemon.log().splitlines():
                self.assertRegex(text, line)
        # Another stream than the one that the variable names is no journal.
        daemon = self.start(environment={"JOURNAL_STREAM": "1:1"})
        self.assertRegex(daemon.log().splitlines()[0], r"^\d{4}-")

    def test_repeats_are_counted_instead_of_written(self):
        # Forty jobs that fail in one moment: what is left when the drain is over.
        daemon = self.start("--log.level", "info", "--jobs.state_directory", "", "--jobs.drain", "0s")
        daemon.tell("hold")
        for i in range(40):
            self.assertEqual(daemon.control("submit", "--request", requests("winning")[0], "--id", f"left-{i}").code, 0)
        daemon.terminate()
        self.assertEqual(daemon.process.wait(timeout=600), 0)
        self.assertLess(daemon.log().count("job failed"), 40)
        self.assertRegex(daemon.log(), r"\d+ more messages like this were left out: job failed")


class Environment(unittest.TestCase):

    def value(self, name, **environment):
        printed = run(fixture.BIN / "cuzkd", "--print-config", environment=environment)
        self.assertEqual(printed.code, 0, printed)
        section, key = name.split(".")
        text = printed.out.split(f"[{section}]")[1]
        return re.search(rf"^{key} = (.*)$", text, re.M).group(1)

    def test_RUST_LOG_is_honoured(self):
        self.assertEqual(self.value("log.level", RUST_LOG="warn"), '"warning"  # environment RUST_LOG')
        self.assertEqual(self.value("log.level", RUST_LOG="bellperson=debug,error"), '"error"  # environment RUST_LOG')
        self.assertEqual(self.value("log.level", RUST_LOG="trace", CUZK_LOG_LEVEL="info"),
                         '"info"  # environment CUZK_LOG_LEVEL')

    def test_BELLMAN_NO_GPU_is_honoured(self):
        self.assertEqual(self.value("devices.use", BELLMAN_NO_GPU="1"), '"cpu"  # environment BELLMAN_NO_GPU')

    def test_FIL_PROOFS_PARAMETER_CACHE_is_honoured(self):
        self.assertEqual(self.value("params.directory", FIL_PROOFS_PARAMETER_CACHE="/p"),
                         '"/p"  # environment FIL_PROOFS_PARAMETER_CACHE')

    def test_CUZK_GPU_THREADS_is_refused_with_what_replaces_it(self):
        for program in ("--print-config", "--check-config"):
            answer = run(fixture.BIN / "cuzkd", program, environment={"CUZK_GPU_THREADS": "32"})
            self.assertEqual(answer.code, 78)
            self.assertIn("CUZK_SYNTHESIS_THREADS", answer.err)

    def test_CUDA_VISIBLE_DEVICES_is_named_where_it_hides_the_cards(self):
        answer = run(fixture.BIN / "cuzkd", "--check-config", "--devices.use", "gpu", environment={"CUDA_VISIBLE_DEVICES": ""})
        self.assertEqual(answer.code, 0, answer)
        self.assertRegex(answer.err, "CUDA_VISIBLE_DEVICES|no CUDA back end")

    def test_check_config_notes_what_stands_in_the_way_now(self):
        folder = net.folder_for(self)
        answer = run(fixture.BIN / "cuzkd", "--check-config", "--listen", f"unix:{folder}/no/s", "--params.directory",
                     f"{folder}/params", "--jobs.state_directory", f"{folder}/state")
        self.assertEqual(answer.code, 0, answer)
        for name in ("/no", "params.directory", "jobs.state_directory"):
            self.assertIn(name, answer.err)

    def test_check_config_notes_parameters_that_cannot_be_used(self):
        folder = net.folder_for(self)
        empty, file, page = folder / "empty", folder / "file", folder / "page"
        empty.mkdir()
        file.write_text("no folder")
        page.mkdir()
        name = "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-0-sha256_hasher-82a357d2f2ca81dc61bb45f4a762807aedee1b0a53fd6c4e77b46a01bfef7820.params"
        (page / name).write_text("<html>504 Gateway Time-out</html>")

        def notes(directory, *flags):
            answer = run(fixture.BIN / "cuzkd", "--check-config", "--params.directory", directory, *flags)
            self.assertEqual(answer.code, 0, answer)
            return answer.err

        self.assertIn(f"{empty} has no parameters, so every job will be refused", notes(empty))
        self.assertIn(f"{file} is a file, not a directory", notes(file))
        self.assertIn(f"there is no directory {folder}/absent", notes(folder / "absent"))
        told = notes(page, "--params.preload", "porep-32g,winning-32g")
        self.assertIn("params.preload: porep-32g cannot be loaded, and the daemon will not start: ", told)
        self.assertIn("this is not the published file: 33 bytes, 47373928632 expected; the download failed or was cut", told)
        self.assertIn("params.preload: winning-32g cannot be loaded", told)
        self.assertNotIn("so every job", told)

    def test_a_budget_above_the_memory_that_there_is_is_told(self):
        answer = run(fixture.BIN / "cuzkd", "--check-config", "--memory.budget", "1000TiB")
        self.assertEqual(answer.code, 0, answer)
        told = r"memory\.budget: 1048576000 MiB is more than the \d+ MiB that (this machine has|\S+ allows)"
        self.assertRegex(answer.err, told)
        self.assertNotIn("memory.budget", run(fixture.BIN / "cuzkd", "--check-config").err)
        daemon = fixture.Daemon("--memory.budget", "1000TiB")
        self.addCleanup(daemon.close)
        self.assertRegex(daemon.log(), told)

    def test_a_state_directory_of_its_own_is_closed_to_others(self):
        folder = net.folder_for(self)
        state = folder / "state"
        state.mkdir()
        state.chmod(0o777)
        daemon = fixture.Daemon(folder=folder)
        self.addCleanup(daemon.close)
        self.assertRegex(daemon.log(), f"warning jobs.state_directory: {state} had mode 0777, .*; the mode is 0700 now")
        self.assertEqual(state.stat().st_mode & 0o777, 0o700)

    def test_a_folder_of_other_things_that_is_open_to_the_world_is_refused(self):
        folder = net.folder_for(self) / "state"
        folder.mkdir()
        (folder / "letters").touch()
        folder.chmod(0o755)
        for flag, code in ((["--check-config"], 0), ([], 77)):  # a note first: systemd may set it right
            answer = run(fixture.BIN / "cuzkd", *flag, "--jobs.state_directory", folder, "--listen", f"unix:{folder}/s",
                         "--http.listen", "", "--devices.use", "cpu")
            self.assertEqual(answer.code, code, answer)
            self.assertIn(f"jobs.state_directory: {folder} has mode 0755", answer.err)
            self.assertIn(f"chmod 0700 {folder}", answer.err)
        self.assertEqual([path.name for path in folder.iterdir()], ["letters"])

    def test_version_tells_what_was_built(self):
        for program in ("cuzkd", "cuzkctl"):
            first, *facts = run(fixture.BIN / program, "--version").out.splitlines()
            self.assertRegex(first, rf"^{program} \d+\.\d+\.\d+(\+\d+\.g[0-9a-f]+)?$")
            facts = dict(fact.split(":", 1) for fact in facts)
            self.assertEqual(list(facts), ["revision", "build", "capabilities", "cuda"])
            self.assertRegex(facts["revision"], r"^ +([0-9a-f]{12}|unknown)$")
            self.assertRegex(facts["build"], r"^ +\w+, (libraries linked in|shared libraries)\b.*, compiler \S")
            self.assertRegex(facts["capabilities"], r"^ +porep window winning snap on cpu \(scalar, fma, ifma\)")
            self.assertRegex(facts["cuda"], r"^ +(none, architectures none|\d+\.\S+, architectures [\d a-z-]+)$")
            self.assertEqual("cuda" in facts["capabilities"], "none" not in facts["cuda"])


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
