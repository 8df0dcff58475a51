#!/usr/bin/env python3
"""How cuzkctl and cuzkd take what is wrong on their command line, where a proof goes, and a daemon that stops meanwhile.

Usage: manners_test.py BIN VECTORS PARAMETERS
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import unittest

import daemon_fixture as fixture
import net_fixture as net
from daemon_fixture import control, requests, run


def sparse(path, size=100 << 30):
    with open(path, "wb") as file:
        file.truncate(size)
    return path


class Manners(fixture.DaemonTest):

    def request(self):
        return requests("winning")[0]

    def test_a_proof_goes_into_a_pipe_and_through_a_link(self):
        """And what is there stays what it is."""
        pipe, link, target = self.folder / "pipe", self.folder / "link", self.folder / "target"
        os.mkfifo(pipe)
        link.symlink_to(target.name)
        self.assertEqual(self.daemon.control("submit", "--request", self.request(), "--id", "piped").code, 0)
        with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
            answer = self.daemon.control("await", "piped", "--out", pipe)
            proof = reader.communicate(timeout=60)[0]
        self.assertEqual((answer.code, len(proof)), (0, 192), answer)
        self.assertTrue(pipe.is_fifo())
        self.assertEqual(self.daemon.control("await", "piped", "--out", link).code, 0)
        self.assertTrue(link.is_symlink())
        self.assertEqual(target.read_bytes(), proof)
        # stdout is what whoever started the program made it.
        with open(self.folder / "stdout", "wb") as out:
            code = subprocess.run([str(fixture.BIN / "cuzkctl"), "--address", self.daemon.address, "await", "piped", "--out",
                                   "/dev/stdout"], stdout=out, env=fixture.clean_environment(), timeout=60).returncode
        self.assertEqual(code, 0)
        self.assertTrue((self.folder / "stdout").read_bytes().startswith(proof + b"piped: proof of"))

    def test_a_bench_counts_proofs_that_were_made(self):
        bench = ("bench", "--request", self.request(), requests("window")[0], "--count", "5", "--at-once", "2")
        before = self.made()
        answer = self.daemon.control("--json", *bench).json()
        self.assertEqual((answer["proofs"], answer["partitions"], answer["at_once"]), (5, 5, 2), answer)
        self.assertEqual(self.made() - before, 5 + 2, "the first of each request is made beside them")
        self.assertAlmostEqual(answer["proofs_per_hour"] * answer["seconds"] / 3600, 5, delta=0.1)
        for part in ("queue_wait", "synthesis", "device", "total"):
            spread = answer[f"{part}_seconds"]
            self.assertLessEqual(spread["least"], spread["median"])
            self.assertLessEqual(spread["median"], spread["most"])
        self.assertIn("5 proofs of 5 partitions, 2 at once, in ", self.daemon.control(*bench).out)
        for words, code in ((("--request", self.folder / "none"), 2), (("--request", self.request(), "--count", "0"), 2)):
            self.assertEqual(self.daemon.control("bench", *words).code, code)

    def test_a_bench_ends_with_the_first_job_that_fails(self):
        broken = self.folder / "broken"
        shutil.copytree(self.request(), broken)
        described = json.loads((broken / "request.json").read_text())
        described["randomness"] = "01" * 31 + "00"
        (broken / "request.json").write_text(json.dumps(described))
        before = self.made()
        answer = self.daemon.control("bench", "--request", broken)
        self.assertEqual((answer.code, "FAILED" in answer.err, answer.out), (1, True, ""), answer)
        told = self.daemon.control("--json", "bench", "--request", broken)
        self.assertEqual((told.code, told.json()["code"]), (1, "FAILED"), told)
        self.assertEqual(self.made(), before)
        nobody = control("--address", f"unix:{self.folder}/nobody", "bench", "--request", self.request())
        self.assertEqual(nobody.code, 3, nobody)

    def made(self):
        status = self.daemon.control("--json", "status").json()
        return int(status["total_proofs_completed"])

    def test_where_a_proof_cannot_go_is_said_before_it_is_made(self):
        for out in (self.folder, self.folder / "none" / "proof"):
            for command in (("prove", "--request", self.request(), "--id", "unwritten"), ("await", "unwritten")):
                answer = self.daemon.control(*command, "--out", out)
                self.assertEqual(answer.code, 2, answer)
                self.assertIn(str(out), answer.err)
        self.assertIn("unwritten", self.daemon.control("await", "unwritten").err)  # it was never submitted

    def test_a_proof_without_a_file(self):
        answer = self.daemon.control("prove", "--request", self.request(), "--id", "shown")
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("--out FILE", answer.out)
        proof = self.folder / "proof"
        proof.write_bytes(bytes.fromhex(self.daemon.control("--json", "await", "shown").json()["proof"]))
        self.verify(self.request(), proof)
        with_file = self.daemon.control("--json", "await", "shown", "--out", proof).json()
        self.assertNotIn("proof", with_file)

    def test_enormous_files_are_refused_by_name(self):
        proof = sparse(self.folder / "proof")
        answer = control("verify", "--request", self.request(), "--proof", proof,
                         environment={"CUZK_PARAMS_DIRECTORY": str(fixture.PARAMS)})
        self.assertEqual(answer.code, 6, answer)
        for word in (str(proof), str(100 << 30)):
            self.assertIn(word, answer.err)
        answer = self.daemon.control("submit", "--request", self.request(), environment={"CUZK_GRPC_MAX_MESSAGE": "1KiB"})
        self.assertEqual(answer.code, 6, answer)
        self.assertIn("at most 1024", answer.err)
        copy = self.copy_of(self.request())
        for name in [path.name for path in copy.iterdir() if path.name != "expected.json"]:
            copy = self.copy_of(self.request())
            sparse(copy / name)
            answer = self.daemon.control("submit", "--request", copy)
            self.assertEqual(answer.code, 6, answer)
            self.assertIn(name, answer.err)

    def test_wrong_values_of_flags_are_usage(self):
        for words in (("--address", "nowhere", "status"), ("await", "x", "--timeout", "soon"), ("top", "--interval", "x"),
                      ("circuit", "digest", "--kind", "x", "--size", "2KiB"),
                      ("sector", "make", "--kind", "winning", "--size", "3KiB", "--out", self.folder / "x"),
                      ("params", "make", "--kind", "x", "--size", "2KiB", "--out", self.folder / "x"),
                      ("params", "check", self.folder, "--circuit", "x")):
            answer = control(*words)
            self.assertEqual(answer.code, 2, answer)
            self.assertEqual(answer.err.count("\n"), 1, answer)
        for words in (("foo",), ("params", "foo")):
            answer = control(*words)
            self.assertEqual((answer.code, "foo" in answer.err), (2, True), answer)

    def test_files_that_are_none_are_the_input_s_fault(self):
        for words in (("submit", "--request", self.request() / "request.json"), ("params", "check", self.folder)):
            answer = self.daemon.control(*words)
            self.assertEqual(answer.code, 6, answer)

    def test_files_that_are_not_there_are_usage(self):
        """Whatever names them, and without a daemon."""
        none, request, proof = self.folder / "none", self.request(), self.folder / "proof"
        proof.write_bytes(bytes(192))
        away = ("--address", f"unix:{self.folder}/nobody")
        for words in (("verify", "--request", none, "--proof", proof), ("verify", "--request", request, "--proof", none),
                      ("verify", "--request", request, "--proof", proof, "--vk", none),
                      (*away, "prove", "--request", none), (*away, "submit", "--request", none),
                      ("witness", "--request", none, "--partition", 0),
                      ("witness", "--request", request, "--partition", 0, "--expect", none),
                      ("params", "check", none), ("params", "inspect", none), ("--config", none, "status"),
                      ("params", "make", "--kind", "winning", "--size", "2KiB", "--out", self.folder, "--toxic-waste", none)):
            answer = control(*words, environment={"CUZK_PARAMS_DIRECTORY": str(fixture.PARAMS)})
            self.assertEqual(answer.code, 2, answer)
            self.assertIn(str(none), answer.err)

    def test_a_disk_that_is_full_is_not_the_daemon_s(self):
        self.assertEqual(self.daemon.control("submit", "--request", self.request(), "--id", "no room").code, 0)
        answer = self.daemon.control("await", "no room", "--out", "/dev/full")
        self.assertEqual((answer.code, "No space left" in answer.err), (70, True), answer)
        self.assertIn("cuzkctl await no room --out FILE", answer.err)  # nor is the proof lost
        self.assertEqual(self.daemon.control("await", "no room", "--out", self.folder / "proof").code, 0)

    def test_what_is_there_is_not_replaced_unasked(self):
        """Neither a sealed sector's request nor the network's parameters; what was made here can be made again."""
        made = ("sector", "make", "--kind", "winning", "--size", "2KiB", "--out", self.folder / "made", "--seed")
        description = self.folder / "made" / "request.json"
        self.assertEqual(control(*made, 1).code, 0)
        first = description.read_bytes()
        self.assertEqual(control(*made, 2).code, 0)
        self.assertNotEqual(description.read_bytes(), first)
        sealed = json.loads(first)
        del sealed["made_from_seed"]
        description.write_text(json.dumps(sealed))
        answer = control(*made, 2)
        self.assertEqual((answer.code, "--force" in answer.err), (2, True), answer)
        self.assertEqual(json.loads(description.read_bytes()), sealed)
        self.assertEqual(control(*made, 1, "--force").code, 0)
        self.assertEqual(description.read_bytes(), first)
        (self.folder / "items").mkdir()
        (self.folder / "items" / "vanilla.bin").touch()
        self.assertEqual(control(*made[:-2], self.folder / "items").code, 2)

        listed = [json.loads(line) for line in control("--json", "circuit", "list").out.splitlines()]
        circuit = next(circuit for circuit in listed if circuit["circuit_id"] == "winning-2k")
        parameters = self.folder / "parameters"
        parameters.mkdir()
        for name in (circuit["params"], circuit["vk"]):
            shutil.copy(fixture.PARAMS / name, parameters)
        before = {path: path.stat().st_ino for path in parameters.iterdir()}
        answer = control("params", "make", "--kind", "winning", "--size", "2KiB", "--out", parameters)
        self.assertEqual((answer.code, "--force" in answer.err), (2, True), answer)
        self.assertEqual({path: path.stat().st_ino for path in parameters.iterdir()}, before)

    def test_an_output_that_cannot_be_written_is_an_error(self):
        for command in (("cuzkctl", "circuit", "list"), ("cuzkd", "--print-defaults"), ("cuzkd", "--print-man", "cuzkd")):
            with open("/dev/full", "w") as full:
                done = subprocess.run([str(fixture.BIN / command[0]), *command[1:]], stdout=full, stderr=subprocess.PIPE,
                                      env=fixture.clean_environment(), timeout=60)
            self.assertEqual(done.returncode, 70, command)
            self.assertIn(b"stdout", done.stderr)

    def test_an_empty_value_does_not_take_the_next_flag(self):
        answer = run(fixture.BIN / "cuzkd", "--print-config", "--http.listen=", "--log.level", "debug")
        self.assertEqual(answer.code, 0, answer)
        self.assertIn('level = "debug"', answer.out)
        self.assertRegex(answer.out, r'(?s)\[http\]\nlisten = ""')

    def test_what_is_no_text_is_refused_with_a_text(self):
        """And what the library says of it is a line of the log as any other."""
        answer = self.daemon.control("await", os.fsdecode(b"\xff\xfe"))
        self.assertEqual(answer.code, 6, answer)
        self.assertIn("UTF-8", answer.err.splitlines()[-1])
        self.assertIn("warning protobuf err=", self.daemon.log())
        for line in self.daemon.log().splitlines():
            self.assertRegex(line, r"^20\d\d-\S+Z (debug|info|warning|error) ")


class Stopping(unittest.TestCase):
    """A daemon that stops before what cuzkctl waits for has come."""

    def setUp(self):
        self.daemon = net.FaultyDaemon()
        self.addCleanup(self.daemon.close)
        self.daemon.tell("hold")
        answer = self.daemon.control("submit", "--request", requests("winning")[0], "--id", "unfinished")
        self.assertEqual(answer.code, 0, answer)
        self.daemon.wait_until_held()

    def watcher(self, *words):
        """A `cuzkctl watch` that has heard something."""
        command = [str(fixture.BIN / "cuzkctl"), "--json", "--address", self.daemon.address, "watch", *words]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=fixture.clean_environment())
        self.assertIn("unfinished", process.stdout.readline())
        return process

    def test_whoever_watches_is_told_that_the_end_is_not_known(self):
        watchers = [self.watcher("unfinished"), self.watcher()]
        self.daemon.terminate()
        net.wait_for(lambda: "draining" in self.daemon.log(), "the daemon drains")
        self.daemon.terminate()  # does not wait for the job
        for watcher in watchers:
            out, err = watcher.communicate(timeout=600)
            self.assertEqual((watcher.returncode, "the daemon is stopping" in out), (3, True), (out, err))

    def test_whoever_waits_is_told_that_the_daemon_is_gone(self):
        watchers = [self.watcher("unfinished"), self.watcher()]
        self.daemon.terminate(signal.SIGKILL)
        for watcher in watchers:
            out, err = watcher.communicate(timeout=600)
            self.assertEqual((watcher.returncode, "the daemon" in out), (3, True), (out, err))


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
