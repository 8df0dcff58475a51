#!/usr/bin/env python3
"""What cuzkctl and cuzkd say of mistakes: words that do not exist, daemons that are not there or speak something else,
requests that are none, settings of another daemon; and of Ctrl-C. And that proxies are not used.

Usage: mistakes_test.py BIN VECTORS PARAMETERS
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import unittest

import command_test as commands
import daemon_fixture as fixture
import net_fixture as net
from daemon_fixture import control, requests, run


class Words(unittest.TestCase):
    """The command line alone."""

    def said(self, program, *words):
        answer = run(fixture.BIN / program, *words)
        self.assertEqual(answer.code, 2, answer)
        return answer.err

    def test_the_nearest_word_is_named(self):
        self.assertIn('there is no subcommand "statsu"; did you mean "status"?', self.said("cuzkctl", "statsu"))
        self.assertIn('there is no subcommand "mkae"; did you mean "make"?', self.said("cuzkctl", "params", "mkae"))
        self.assertIn('there is no option "--requst"; did you mean "--request"?',
                      self.said("cuzkctl", "prove", "--requst", "x", "--request", "y"))
        self.assertIn('there is no option "--lsten"; did you mean "--listen"?', self.said("cuzkd", "--lsten", "x"))
        self.assertIn('there is no option "--jobs.qeue"; did you mean "--jobs.queue"?', self.said("cuzkd", "--jobs.qeue=1"))
        self.assertNotIn("did you mean", self.said("cuzkctl", "frobnicate"))

    def test_help_and_version(self):
        for words in (("help",), ("--help",)):
            answer = control(*words)
            self.assertEqual((answer.code, "bench" in answer.out), (0, True), answer)
        answer = control("help", "params", "make")
        self.assertEqual(answer.code, 0, answer)
        for word in ("Usage: cuzkctl params make", "--toxic-waste"):
            self.assertIn(word, answer.out)
        self.assertIn('did you mean "prove"', control("help", "prvoe").err)
        version = control("version")
        self.assertEqual((version.code, version.out.startswith("cuzkctl ")), (0, True), version)
        self.assertIn("version", control("--json", "version").json())

    def test_settings_that_do_not_exist(self):
        folder = net.folder_for(self)
        file = folder / "cuzkd.toml"
        file.write_text('[params]\ndirectry = "x"\n')
        answer = run(fixture.BIN / "cuzkd", "--check-config", "--config", file)
        self.assertEqual(answer.code, 78, answer)
        self.assertIn(f'{file}:2: there is no setting "params.directry"; did you mean "params.directory"?', answer.err)
        file.write_text('[params]\npreload = ["porep-32"]\n')
        answer = run(fixture.BIN / "cuzkd", "--check-config", "--config", file)
        self.assertEqual(answer.code, 78, answer)
        for word in (f"file {file}:2", 'did you mean "porep-32g"?', "winning-64g"):
            self.assertIn(word, answer.err)
        answer = run(fixture.BIN / "cuzkd", "--check-config", environment={"CUZK_JOBS_QEUE": "1"})
        self.assertIn('did you mean "CUZK_JOBS_QUEUE"?', answer.err)

    def test_settings_of_the_daemon_that_curio_ships(self):
        folder = net.folder_for(self)
        old, ours = folder / "cuzk.toml", folder / "cuzkd.toml"
        old.write_text(commands.INCUMBENT)
        for program, *words in (("cuzkd", "--check-config"), ("cuzkd",), ("cuzkctl", "status")):
            answer = run(fixture.BIN / program, "--config", old, *words)
            self.assertIn(f"cuzkd --convert-settings {old}", answer.err, answer)
        ours.write_text(run(fixture.BIN / "cuzkd", "--convert-settings", old).out)
        again = run(fixture.BIN / "cuzkd", "--convert-settings", ours)
        self.assertEqual((again.code, again.out), (78, ""), again)
        self.assertIn(f"{ours} is already a settings file of cuzkd", again.err)

    def complete(self, program, line):
        """What bash would offer at the end of the line."""
        script = run(fixture.BIN / program, "--print-completion", "bash")
        self.assertEqual(script.code, 0, script)
        words = line.split(" ")
        asked = script.out + f"\nCOMP_WORDS=({' '.join(w if w else chr(39) * 2 for w in words)}); COMP_CWORD={len(words) - 1}\n" \
            f"_{program}; printf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
        done = subprocess.run(["bash", "-u", "-c", asked], capture_output=True, text=True, cwd=net.folder_for(self))
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        return set(done.stdout.split())

    def test_bash_completes(self):
        self.assertLessEqual({"status", "prove", "params", "help"}, self.complete("cuzkctl", "cuzkctl "))
        self.assertEqual(self.complete("cuzkctl", "cuzkctl sta"), {"status"})
        self.assertEqual(self.complete("cuzkctl", "cuzkctl params m"), {"make"})
        self.assertEqual(self.complete("cuzkctl", "cuzkctl --address a params make --kind w"), {"window", "winning"})
        self.assertIn("porep-32g", self.complete("cuzkctl", "cuzkctl preload porep-3"))
        self.assertEqual(self.complete("cuzkctl", "cuzkctl prove --req"), {"--request"})
        self.assertEqual(self.complete("cuzkd", "cuzkd --devices.use "), {"auto", "gpu", "cpu"})
        self.assertIn("--jobs.queue", self.complete("cuzkd", "cuzkd --jobs."))

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_reads_its_script(self):
        for program in ("cuzkd", "cuzkctl"):
            script = run(fixture.BIN / program, "--print-completion", "zsh").out
            done = subprocess.run(["zsh", "-n"], input=script, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), program)


class Connections(fixture.DaemonTest):
    """Where the daemon is not what was thought."""

    def said(self, address, *flags, code=3):
        answer = control("--address", address, *flags, "status")
        self.assertEqual(answer.code, code, answer)
        self.assertNotIn("failed to connect to all addresses", answer.err)
        return answer.err

    def test_nothing_is_there(self):
        said = self.said(f"unix:{self.folder}/none")
        for word in ("the daemon cannot be reached", f"there is no socket {self.folder}/none", "systemctl start cuzkd"):
            self.assertIn(word, said)
        self.assertIn(f"nothing listens at 127.0.0.1:{(port := net.free_port())}", self.said(f"127.0.0.1:{port}"))
        self.assertIn("the name prover.invalid cannot be resolved", self.said("prover.invalid:9820"))
        (self.folder / "file").touch()
        self.assertIn("is not a socket", self.said(f"unix:{self.folder}/file"))
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(f"{self.folder}/left")
            self.assertIn("no daemon listens at the socket", self.said(f"unix:{self.folder}/left"))

    def test_the_port_of_the_pages(self):
        said = self.said(f"127.0.0.1:{self.daemon.http_port()}")
        for word in ("speaks HTTP/1, not gRPC", "http.listen"):
            self.assertIn(word, said)

    def test_tls_to_plain_and_back(self):
        authority = net.Certificates(self.folder)
        certificate, key = authority.sign("server", 1)
        ports = net.free_port(), net.free_port()
        plain = fixture.Daemon("--listen", f"unix:{self.folder}/plain,127.0.0.1:{ports[0]}")
        self.addCleanup(plain.close)
        safe = fixture.Daemon("--listen", f"unix:{self.folder}/safe,localhost:{ports[1]}", "--tls.certificate", certificate,
                              "--tls.key", key)
        self.addCleanup(safe.close)
        self.assertEqual(control("--address", f"localhost:{ports[1]}", "--tls-ca", authority.ca, "status").code, 0)
        self.assertIn("does not use TLS", self.said(f"127.0.0.1:{ports[0]}", "--tls-ca", authority.ca))
        self.assertIn("uses TLS; add --tls-ca FILE", self.said(f"localhost:{ports[1]}"))

    def test_proxies_are_not_used(self):
        port = net.free_port()
        daemon = fixture.Daemon("--listen", f"unix:{self.folder}/s,127.0.0.1:{port}")
        self.addCleanup(daemon.close)
        nowhere = {name: "http://127.0.0.1:1" for name in ("http_proxy", "https_proxy", "grpc_proxy", "HTTP_PROXY")}
        answer = control("--address", f"127.0.0.1:{port}", "status", environment=nowhere)
        self.assertEqual(answer.code, 0, answer)

    def test_messages_that_are_too_large_name_the_setting_and_the_side(self):
        request = requests("winning")[0]
        answer = self.daemon.control("submit", "--request", request, environment={"CUZK_GRPC_MAX_MESSAGE": "1KiB"})
        self.assertEqual(answer.code, 6, answer)
        self.assertIn("grpc.max_message of cuzkctl's own settings", answer.err)
        small = fixture.Daemon("--grpc.max_message", "2KiB")
        self.addCleanup(small.close)
        answer = small.control("submit", "--request", request)
        self.assertEqual(answer.code, 6, answer)
        self.assertIn("raise grpc.max_message in the daemon's settings", answer.err)

    def test_directories_that_are_no_requests(self):
        none, empty, broken = self.folder / "none", self.folder / "empty", self.folder / "broken"
        empty.mkdir()
        shutil.copytree(requests("winning")[0], broken)
        text = (broken / "request.json").read_text()
        (broken / "request.json").write_text(text.replace(",", "", 1))
        for command in (("submit",), ("prove",), ("verify", "--proof", self.folder / "x"), ("witness", "--partition", "0")):
            for request, code, said in ((none, 2, f"there is no directory {none}"),
                                        (empty, 2, f"{empty} is not a request directory: it has no file request.json"),
                                        (broken, 6, "expected ',' or '}'")):
                answer = self.daemon.control(*command, "--request", request)
                self.assertEqual((answer.code, said in answer.err), (code, True), (command, answer))
        self.assertRegex(self.daemon.control("submit", "--request", broken).err, rf"{broken}/request\.json:\d+:\d+: ")


class Views(fixture.DaemonTest):
    """What is shown of a daemon."""

    def test_status_is_a_table_with_totals_by_kind(self):
        self.prove_and_verify(requests("winning")[0])
        shown = self.daemon.control("status").out
        self.assertRegex(shown, r"(?m)^cuzkd at unix:\S+, up \d+ \w+, accepting jobs$")
        self.assertRegex(shown, r"(?m)^JOBS +WAITING +RUNNING +PROVED +FAILED +CANCELLED$")
        rows = {line.split()[0]: line.split()[1:] for line in shown.splitlines() if line[:1].islower() and len(line.split()) == 6}
        self.assertEqual(set(rows), {"porep", "window", "winning", "snap", "total"})
        self.assertGreaterEqual(int(rows["winning"][2]), 1)
        self.assertEqual(int(rows["total"][2]), sum(int(rows[k][2]) for k in ("porep", "window", "winning", "snap")))
        self.assertRegex(shown, r"(?m)^DEVICE +NAME +MEMORY IN USE +JOB$")
        self.assertRegex(shown, r"(?m)^winning-2k +[\d.]+ [MG]iB +(idle|in use)$")
        self.assertRegex(shown, r"memory budget: [\d.]+ of [\d.]+ GiB in use")

    def test_circuits_are_listed_with_what_is_here(self):
        answer = control("circuit", "list", environment={"CUZK_PARAMS_DIRECTORY": str(fixture.PARAMS)})
        head, *lines = answer.out.splitlines()
        self.assertEqual(head.split(), ["CIRCUIT", "KIND", "SIZE", "HERE", "PARAMETER", "FILE"])
        here = {line.split()[0]: line.split()[3] for line in lines}
        self.assertEqual((here["winning-2k"], here["porep-64g"]), ("development", "-"))
        columns = {line.index(line.split()[4]) for line in lines}
        self.assertEqual(len(columns), 1, "the columns are aligned")
        told = [json.loads(line) for line in control("--json", "circuit", "list").out.splitlines()]
        self.assertEqual({t["here"] for t in told}, {"-"})

    def test_watch_prints_a_line_for_each_stage(self):
        request = requests("window")[0]
        self.assertEqual(self.daemon.control("submit", "--request", request, "--id", "watched").code, 0)
        answer = self.daemon.control("watch", "watched")
        self.assertEqual(answer.code, 0, answer)
        lines = answer.out.splitlines()
        for line in lines:
            self.assertRegex(line, r"^\d\d:\d\d:\d\d  watched  \S+")
        stages = [line.split()[2] for line in lines]
        self.assertEqual(stages[-1], "completed")
        self.assertEqual(len(stages), len([s for i, s in enumerate(stages) if i == 0 or s != stages[i - 1]]), lines)


class Loading(unittest.TestCase):

    def test_status_waits_until_jobs_are_taken(self):
        """An answer alone is not enough: this daemon answers, and drains."""
        daemon = net.FaultyDaemon()
        self.addCleanup(daemon.close)
        daemon.tell("hold")
        self.assertEqual(daemon.control("submit", "--request", requests("winning")[0], "--id", "held").code, 0)
        daemon.wait_until_held()
        self.assertEqual(daemon.control("status", "--wait", "10s").code, 0)
        daemon.terminate()
        net.wait_for(lambda: "draining" in daemon.log(), "the daemon drains")
        self.assertIn("not accepting jobs", net.wait_for(
            lambda: (said := daemon.control("status").out) if "not accepting" in daemon.control("status").out else None))
        answer = daemon.control("status", "--wait", "300ms")
        self.assertEqual((answer.code, "did not accept jobs within 300 ms" in answer.err), (4, True), answer)


class Interrupted(unittest.TestCase):
    """Ctrl-C while cuzkctl waits for a job."""

    def setUp(self):
        self.daemon = net.FaultyDaemon()
        self.addCleanup(self.daemon.close)
        self.daemon.tell("hold")

    def interrupted(self, *words, environment=None):
        """How a command ends that is interrupted once its job is inside the device."""
        process = subprocess.Popen([str(fixture.BIN / "cuzkctl"), "--address", self.daemon.address, *map(str, words)],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env={**fixture.clean_environment(), **(environment or {})})
        lines = []
        seen = threading.Event()

        def read():
            for line in process.stderr:
                lines.append(line)
                seen.set()
        reader = threading.Thread(target=read)
        reader.start()
        self.daemon.wait_until_held()
        if words[0] == "prove":
            self.assertTrue(seen.wait(600), "its progress is shown, so the job is known")
        process.send_signal(signal.SIGINT)
        code = process.wait(600)
        reader.join()
        process.stdout.close()
        process.stderr.close()
        return code, "".join(lines)

    def test_prove_says_how_to_go_on(self):
        code, said = self.interrupted("prove", "--request", requests("winning")[0], "--id", "mine")
        self.assertEqual(code, -signal.SIGINT, said)
        for word in ("the job mine continues", "cuzkctl await mine --out FILE", "cuzkctl cancel mine"):
            self.assertIn(word, said)
        # And it is true.
        self.daemon.tell("release")
        self.assertEqual(self.daemon.control("await", "mine").code, 0)

    def test_await_says_so_too(self):
        self.assertEqual(self.daemon.control("submit", "--request", requests("winning")[0], "--id", "it's [1 2]").code, 0)
        self.daemon.wait_until_held()
        process = subprocess.Popen([str(fixture.BIN / "cuzkctl"), "--address", self.daemon.address, "await", "it's [1 2]"],
                                   stderr=subprocess.PIPE, text=True, env=fixture.clean_environment())
        blocked = re.compile(r"(?m)^SigBlk:\s*[0-9a-f]*[2367abef]$")  # SIGINT is blocked: the note is there
        net.wait_for(lambda: blocked.search((fixture.pathlib.Path(f"/proc/{process.pid}/status")).read_text()))
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=600)[1]
        self.assertEqual(process.returncode, -signal.SIGINT, said)
        self.assertIn(r"cuzkctl await 'it'\''s [1 2]' --out FILE", said)


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
