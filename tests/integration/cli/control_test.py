#!/usr/bin/env python3
"""The tools of cuzkctl that need no daemon, against recorded facts.

Usage: control_test.py BIN VECTORS PARAMETERS
"""

import json
import pathlib
import shutil
import sys
import tempfile
import unittest

import daemon_fixture as fixture
from daemon_fixture import control, requests

ALL_VECTORS = None


class Tools(unittest.TestCase):

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cuzk-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def test_circuit_digest_prints_the_recorded_lines(self):
        for kind, recorded in (("winning", "winning"), ("window", "window"), ("snap", "update"), ("porep", "porep")):
            with self.subTest(kind=kind):
                printed = control("circuit", "digest", "--kind", kind, "--size", "2KiB")
                self.assertEqual(printed.code, 0, printed)
                expected = (ALL_VECTORS / "circuit" / f"{recorded}-2KiB.txt").read_text().splitlines()
                # The vectors leave out the name of the file and the paths of the rows.
                lines = [line for line in printed.out.splitlines() if not line.startswith("cache ")]
                self.assertEqual([" ".join(line.split(" ")[:2]) if line[0].isdigit() else line
                                  for line in lines][:len(expected)],
                                 expected)

    def test_witness_prints_the_recorded_digests(self):
        for kind in ("porep", "winning", "window", "snap"):
            request = requests(kind)[0]
            partition = json.loads((request / "expected.json").read_text())["partitions"][0]
            with self.subTest(request=request.name):
                printed = control("witness", "--request", request, "--partition", 0, "--json")
                self.assertEqual(printed.code, 0, printed)
                witness = json.loads(printed.out)
                self.assertEqual(witness["public_inputs"], partition["public_inputs"])
                for name in ("inputs", "aux", "a", "b", "c"):
                    self.assertEqual(witness[name]["blake2s"], partition[name]["blake2s"], name)
                    self.assertEqual(witness[name]["len"], partition[name]["len"], name)

    def compare(self, request, expected, partition=0):
        return control("witness", "--request", request, "--partition", partition, "--expect", expected)

    def test_witness_is_compared_with_every_recorded_chunk(self):
        for kind in ("porep", "winning", "window", "snap"):
            for request in requests(kind):
                for number in range(len(json.loads((request / "expected.json").read_text())["partitions"])):
                    with self.subTest(request=request.name, partition=number):
                        answer = self.compare(request, request / "expected.json", number)
                        self.assertEqual(answer.code, 0, answer)

    def test_witness_names_the_first_chunk_that_differs(self):
        request = requests("winning")[0]
        recorded = json.loads((request / "expected.json").read_text())
        partition = recorded["partitions"][0]
        path = self.folder / "expected.json"

        def differences():
            path.write_text(json.dumps(recorded))
            answer = self.compare(request, path)
            self.assertEqual(answer.code, 1, answer)
            return [line.removeprefix(f"not {path}: ") for line in answer.out.splitlines()]

        partition["a"]["chunks"][1] = partition["b"]["chunks"][1]
        lines = differences()
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith("a: chunk 1 differs, which begins with row 65536, in sector 47/comm_r_last path of "
                                            "challenge 0/level 1/poseidon/"), lines)
        for name in ("a", "aux"):  # what was recorded without chunks is compared as a whole
            del partition[name]["chunks"]
        self.assertEqual(self.compare(request, request / "expected.json").code, 0)
        partition["aux"]["blake2s"] = partition["a"]["blake2s"]
        self.assertEqual(differences(), ["aux: differs"])

    def test_witness_of_another_request_differs(self):
        request, other = requests("window")[:2]
        answer = self.compare(request, other / "expected.json")
        self.assertEqual(answer.code, 1, answer)
        self.assertIn("public input 1 differs", answer.out)
        self.assertIn("a: chunk 0 differs, which begins with row 0, in ", answer.out)
        self.assertEqual(self.compare(request, request / "request.json").code, 6)

    def test_witness_of_a_partition_that_is_not_there(self):
        self.assertEqual(control("witness", "--request", requests("winning")[0], "--partition", 1).code, 6)

    def test_circuits_are_listed_with_their_files(self):
        listed = [json.loads(line) for line in control("--json", "circuit", "list").out.splitlines()]
        ids = {circuit["circuit_id"] for circuit in listed}
        for name in ("porep-32g", "porep-64g", "wpost-32g", "winning-32g", "snap-32g", "snap-64g", "porep-2k"):
            self.assertIn(name, ids)
        published = {circuit["circuit_id"] for circuit in listed if circuit["published"]}
        for kind in ("porep", "wpost", "winning", "snap"):
            self.assertLessEqual({f"{kind}-32g", f"{kind}-64g"}, published)
        self.assertNotIn("porep-4k", published)

    def test_params_make_writes_the_recorded_bytes(self):
        record = json.loads((ALL_VECTORS / "groth16" / "winning-2KiB.json").read_text())
        made = control("--json", "params", "make", "--kind", "winning", "--size", "2KiB", "--out", self.folder,
                       "--toxic-waste", ALL_VECTORS / "groth16" / "winning-2KiB.json")
        self.assertEqual((made.code, made.json()["sha256"]), (0, record["params_sha256"]), made)
        key = (self.folder / record["file_name"]).with_suffix(".vk")
        self.assertEqual(key.read_bytes(), (ALL_VECTORS / "groth16" / "winning-2KiB.vk").read_bytes())

    def copy_parameters(self, name):
        record = json.loads((ALL_VECTORS / "groth16" / name).read_text())
        source = fixture.PARAMS / record["file_name"]
        target = self.folder / source.name
        shutil.copy(source, target)
        shutil.copy(source.with_name(source.stem + ".development.json"), self.folder)
        return target

    def test_params_check_finds_what_was_changed(self):
        path = self.copy_parameters("window-2KiB.json")
        self.assertEqual(control("params", "inspect", path).code, 0)
        whole = control("--json", "params", "check", path)
        self.assertEqual((whole.code, whole.json()["valid"], whole.json()["development"]), (0, True, True), whole)
        original = path.read_bytes()
        for offset in (0, len(original) // 2, len(original) - 1):
            changed = bytearray(original)
            changed[offset] ^= 1
            path.write_bytes(changed)
            self.assertEqual(control("params", "check", path).code, 1, offset)
        for length in (0, 100, len(original) // 2, len(original) - 1):
            path.write_bytes(original[:length])
            self.assertEqual(control("params", "check", path).code, 1, length)
        path.write_bytes(original + b"\0")
        self.assertEqual(control("params", "check", path).code, 1)
        # The key beside it: none, its own, another one's.
        path.write_bytes(original)
        answer = control("params", "check", path)
        self.assertEqual((answer.code, f"{path.stem}.vk, which cuzkctl verify needs, is not beside it" in answer.out), (0, True), answer)
        key = path.with_suffix(".vk")
        shutil.copy(fixture.PARAMS / key.name, key)
        answer = control("--json", "params", "check", path)
        self.assertEqual((answer.code, answer.json()["key_file"]), (0, True), answer)
        shutil.copy(ALL_VECTORS / "groth16" / "winning-2KiB.vk", key)
        answer = control("params", "check", path)
        self.assertEqual((answer.code, f"{key.name}: is not the key of" in answer.out), (1, True), answer)
        key.unlink()
        # Another circuit's file under this name.
        path.write_bytes(self.copy_parameters("winning-2KiB.json").read_bytes())
        self.assertEqual(control("params", "check", path).code, 1)

    def test_made_sectors_are_equal_for_equal_seeds(self):
        for seed in (1, 1, 2):
            made = control("sector", "make", "--kind", "winning", "--size", "2KiB", "--seed", seed,
                           "--out", self.folder / f"{seed}")
            self.assertEqual(made.code, 0, made)
        files = {seed: [p.read_bytes() for p in sorted((self.folder / str(seed)).iterdir())] for seed in (1, 2)}
        self.assertNotEqual(files[1], files[2])
        printed = control("witness", "--request", self.folder / "1", "--partition", 0)
        self.assertEqual(printed.code, 0, printed)

    def test_verify_says_that_a_key_is_for_development(self):
        proof = self.folder / "proof"
        proof.write_bytes(bytes(192))
        request = requests("winning")[0]
        made = {"CUZK_PARAMS_DIRECTORY": str(fixture.PARAMS)}
        answer = control("--json", "verify", "--request", request, "--proof", proof, environment=made)
        self.assertEqual((answer.code, answer.json()["valid"], answer.json()["development"]), (1, False, True), answer)
        answer = control("verify", "--request", request, "--proof", proof, environment=made)
        self.assertIn("development key", answer.out)

    def test_a_key_file_ends_with_its_key(self):
        proof = self.folder / "proof"
        proof.write_bytes(bytes(192))
        key = (ALL_VECTORS / "groth16" / "winning-2KiB.vk").read_bytes()
        # The head of a parameter file is a key; anything else after a key is not.
        for name, code in (("x.params", 1), ("x.vk", 6)):
            (self.folder / name).write_bytes(key + bytes(100))
            answer = control("verify", "--request", requests("winning")[0], "--proof", proof, "--vk", self.folder / name)
            self.assertEqual(answer.code, code, answer)

    def test_a_missing_key_is_named(self):
        proof = self.folder / "proof"
        proof.write_bytes(bytes(192))
        answer = control("verify", "--request", requests("winning")[0], "--proof", proof,
                         environment={"CUZK_PARAMS_DIRECTORY": str(self.folder)})
        self.assertEqual(answer.code, 7, answer)
        self.assertIn(".vk", answer.err)


if __name__ == "__main__":
    ALL_VECTORS = pathlib.Path(sys.argv[2])
    fixture.configure(*sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
