#!/usr/bin/env python3
"""The manners of the daemon: settings, sockets, exit codes.

Usage: operation_test.py BIN VECTORS PARAMETERS ROOT
"""

import os
import pathlib
import shutil
import signal
import socket
import stat
import sys
import tempfile
import unittest

import daemon_fixture as fixture
from daemon_fixture import Daemon, run

ROOT = None


class Programs(unittest.TestCase):

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cuzk-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def cuzkd(self, *arguments, **options):
        return run(fixture.BIN / "cuzkd", *arguments, timeout=600, **options)

    def test_the_example_file_is_printed_by_the_program(self):
        printed = self.cuzkd("--print-defaults")
        self.assertEqual(printed.code, 0)
        self.assertEqual(printed.out, (ROOT / "config" / "cuzkd.toml").read_text(),
                         "run: build/release/bin/cuzkd --print-defaults > config/cuzkd.toml")

    def test_S10_check_config_names_file_and_line(self):
        file = self.folder / "cuzkd.toml"
        file.write_text('[memory]\nbudget = "256 gib"\n')
        wrong = self.cuzkd("--check-config", "--config", file)
        self.assertEqual(wrong.code, 78, wrong)
        self.assertIn(f"{file}:2: memory.budget", wrong.err)
        file.write_text('[srs]\npreload = ["porep-32g"]\n')
        self.assertIn(f"{file}:1", self.cuzkd("--check-config", "--config", file).err)
        file.write_text('[memory]\nbudget = "256GiB"\n')
        self.assertEqual(self.cuzkd("--check-config", "--config", file).code, 0)
        self.assertEqual(self.cuzkd("--check-config", "--config", self.folder / "missing").code, 78)

    def test_print_config_tells_where_each_value_comes_from(self):
        file = self.folder / "cuzkd.toml"
        file.write_text('[jobs]\nqueue = 5\n')
        printed = self.cuzkd("--print-config", "--config", file, "--log.level", "debug",
                             environment={"CUZK_PARAMS_DIRECTORY": "/ours", "FIL_PROOFS_PARAMETER_CACHE": "/theirs"})
        self.assertIn(f"queue = 5  # file {file}:2", printed.out)
        self.assertIn('level = "debug"  # flag --log.level', printed.out)
        self.assertIn('directory = "/ours"  # environment CUZK_PARAMS_DIRECTORY', printed.out)
        printed = self.cuzkd("--print-config", environment={"FIL_PROOFS_PARAMETER_CACHE": "/theirs"})
        self.assertIn('directory = "/theirs"  # environment FIL_PROOFS_PARAMETER_CACHE', printed.out)

    def test_print_config_tells_what_auto_comes_to(self):
        printed = self.cuzkd("--print-config", "--config", "/dev/null", "--memory.budget", "8GiB", "--synthesis.threads", "3",
                             "--devices.use", "cpu")
        self.assertEqual(printed.code, 0, printed)
        for line in ("memory.budget: 8192 MiB", "grpc.ingress_memory, part of memory.budget: 2048 MiB; 6144 MiB are left",
                     "memory.requests, part of the rest: 1536 MiB", "devices.use: cpu", "synthesis.threads: 3"):
            self.assertIn(f"\n# {line}", printed.out)
        again = self.folder / "cuzkd.toml"  # what is printed is a file of settings
        again.write_text(printed.out)
        self.assertEqual(self.cuzkd("--check-config", "--config", again).code, 0)
        self.assertRegex(self.cuzkd("--print-config").out, r"\n# memory.budget: [1-9]\d* MiB\n")

    def test_no_settings_file_can_be_asked_for(self):
        answer = self.cuzkd("--print-config", "--config", "/dev/null")
        self.assertEqual((answer.code, "# file" in answer.out), (0, False), answer)
        answer = fixture.control("--config", "/dev/null", "circuit", "list")
        self.assertEqual(answer.code, 0, answer)
        self.assertEqual(self.cuzkd("--check-config", "--config", self.folder).code, 78)

    def test_unknown_variables_are_refused(self):
        answer = self.cuzkd("--check-config", environment={"CUZK_GPU_THREADS": "32"})
        self.assertEqual(answer.code, 78)
        self.assertIn("CUZK_GPU_THREADS", answer.err)
        self.assertEqual(self.cuzkd("--check-config", environment={"CUZK_REQUIRE_FIXTURES": "1"}).code, 0)

    def test_usage_errors_end_with_2(self):
        self.assertEqual(self.cuzkd("--no-such-flag").code, 2)
        self.assertEqual(fixture.control("no-such-command").code, 2)
        self.assertEqual(fixture.control().code, 2)
        self.assertEqual(fixture.control("prove").code, 2)

    def test_help_and_version(self):
        for program in ("cuzkd", "cuzkctl"):
            for flag in ("--help", "--version"):
                answer = run(fixture.BIN / program, flag)
                self.assertEqual(answer.code, 0, answer)
                self.assertIn(program, answer.out)

    def test_plaintext_is_for_this_machine(self):
        answer = self.cuzkd("--listen", "0.0.0.0:0", "--http.listen", "")
        self.assertEqual(answer.code, 78, answer)
        self.assertIn("grpc.allow_plaintext", answer.err)

    def test_a_daemon_that_is_not_there_is_unreachable(self):
        answer = fixture.control("--address", f"unix:{self.folder}/nobody", "status")
        self.assertEqual(answer.code, 3, answer)

    def test_the_socket_is_not_for_the_world(self):
        daemon = Daemon()
        self.addCleanup(daemon.close)
        self.assertEqual(stat.S_IMODE(os.stat(daemon.socket).st_mode), 0o660)
        # A second daemon does not take it away.
        second = self.cuzkd("--listen", daemon.address, "--http.listen", "", "--devices.use", "cpu",
                            "--jobs.state_directory", "")
        self.assertEqual(second.code, 75, second)
        self.assertIn("another process answers", second.err)
        status = daemon.control("status")
        self.assertEqual((status.code, "grpc.ingress_memory" in status.out), (0, True), status)

    def test_a_state_directory_in_use_may_be_tried_again(self):
        daemon = Daemon()
        self.addCleanup(daemon.close)
        second = self.cuzkd("--listen", f"unix:{self.folder}/s", "--http.listen", "", "--devices.use", "cpu",
                            "--jobs.state_directory", daemon.folder / "state")
        self.assertEqual(second.code, 75, second)
        self.assertIn("another process uses the job store", second.err)

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a folder to somebody else")
    def test_a_state_directory_of_another_user_is_refused(self):
        state = self.folder / "state"
        state.mkdir(mode=0o700)
        os.chown(state, 54321, 0)
        answer = self.cuzkd("--listen", f"unix:{self.folder}/s", "--http.listen", "", "--devices.use", "cpu",
                            "--jobs.state_directory", state)
        self.assertEqual(answer.code, 77, answer)
        self.assertIn(f"{state} belongs to uid 54321", answer.err)

    def test_a_socket_that_is_anothers_by_now_stays_there(self):
        daemon = Daemon()
        self.addCleanup(daemon.close)
        os.unlink(daemon.socket)
        other = socket.socket(socket.AF_UNIX)
        self.addCleanup(other.close)
        other.bind(str(daemon.socket))
        daemon.terminate()
        self.assertEqual(daemon.process.wait(60), 0, daemon.log())
        self.assertTrue(daemon.socket.is_socket())

    def test_a_socket_left_behind_is_replaced_and_a_file_is_not(self):
        path = self.folder / "s"
        left = socket.socket(socket.AF_UNIX)
        left.bind(str(path))
        left.close()
        daemon = Daemon("--listen", f"unix:{path}")
        self.addCleanup(daemon.close)
        self.assertEqual(fixture.control("--address", f"unix:{path}", "status").code, 0)
        file = self.folder / "file"
        file.write_text("precious")
        answer = self.cuzkd("--listen", f"unix:{file}", "--http.listen", "", "--devices.use", "cpu",
                            "--jobs.state_directory", "")
        self.assertEqual(answer.code, 78, answer)
        self.assertEqual(file.read_text(), "precious")

    def test_tcp_serves_as_well(self):
        probe = socket.socket()
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        daemon = Daemon("--listen", f"127.0.0.1:{port}")
        self.addCleanup(daemon.close)
        self.assertEqual(fixture.control("--address", f"127.0.0.1:{port}", "status").code, 0)

    def test_signals_end_it_with_0(self):
        for sig in (signal.SIGTERM, signal.SIGINT):
            daemon = Daemon()
            self.addCleanup(daemon.close)
            daemon.terminate(signal.SIGHUP)
            self.assertEqual(daemon.control("status").code, 0)
            daemon.terminate(sig)
            self.assertEqual(daemon.process.wait(timeout=600), 0, daemon.log())
            self.assertFalse(daemon.socket.exists())

    def test_it_says_what_proves(self):
        daemon = Daemon("--log.format", "json")
        self.addCleanup(daemon.close)
        self.assertIn("proving on the CPU device", daemon.log())
        for line in daemon.log().splitlines():
            self.assertTrue(line.startswith('{"ts":"'), line)


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    ROOT = pathlib.Path(sys.argv[4])
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
