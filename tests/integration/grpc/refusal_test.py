#!/usr/bin/env python3
"""Bad input gets an error that names what is wrong, with the status of the contract, and costs nothing.

Usage: refusal_test.py BIN VECTORS PARAMETERS
"""

import base64
import json
import os
import sys
import unittest

import daemon_fixture as fixture
from daemon_fixture import change_request, requests


class Refusals(fixture.DaemonTest):
    FLAGS = ("--grpc.max_message", "300MiB")

    def refuse(self, folder, expected_exit, *words, arguments=()):
        answer = self.daemon.control("--json", "prove", "--request", folder, *arguments)
        self.assertEqual(answer.code, expected_exit, answer)
        text = answer.json()["error"]
        for word in words:
            self.assertIn(word, text)
        self.assertLess(len(text), 4000)
        self.assertIsNone(self.daemon.process.poll(), self.daemon.log())
        return text

    def change_c1(self, folder, change):
        """Rewrites the C1 inside Curio's wrapper."""
        path = folder / "c1.json"
        wrapper = json.loads(path.read_text())
        wrapper["Phase1Out"] = base64.b64encode(change(base64.b64decode(wrapper["Phase1Out"]))).decode()
        path.write_text(json.dumps(wrapper, separators=(",", ":")))

    # What the message's fields show is refused before anything is accepted: exit 6.

    def test_registered_proofs_that_do_not_exist(self):
        for number in (15, 99, 1 << 40):
            folder = self.copy_of(requests("winning")[0])
            change_request(folder, registered_proof=number)
            self.refuse(folder, 6, str(number))

    def test_S03_sector_size_is_derived_or_must_fit(self):
        folder = self.copy_of(requests("snap")[0])
        change_request(folder, sector_size=4096)
        self.refuse(folder, 6, "sector")
        change_request(folder, sector_size=0)
        self.prove_and_verify(folder)

    def test_randomness_must_be_canonical(self):
        folder = self.copy_of(requests("winning")[0])
        change_request(folder, randomness="ff" * 32)
        self.refuse(folder, 6, "randomness")

    def test_commitments_must_be_canonical(self):
        folder = self.copy_of(requests("snap")[0])
        change_request(folder, comm_r_new="ff" * 32)
        self.refuse(folder, 6, "comm_r_new")

    def test_S16_sectors_ascend_strictly(self):
        request = next(r for r in requests("window") if "2of" in r.name)
        folder = self.copy_of(request)
        sectors = json.loads((folder / "request.json").read_text())["sectors"]
        change_request(folder, sectors=sectors[::-1])
        self.refuse(folder, 6, "ascend")
        change_request(folder, sectors=[sectors[0], sectors[0]])
        self.refuse(folder, 6, "ascend")
        change_request(folder, sectors=[])
        self.refuse(folder, 6)

    def test_no_vanilla_proof(self):
        folder = self.copy_of(requests("porep")[0])
        (folder / "c1.json").write_text("")
        self.refuse(folder, 6, "vanilla")

    # Missing parameters: exit 7, with the file's name.

    def test_parameters_that_are_missing_are_named(self):
        folder = next(p for p in sorted((fixture.VECTORS / "snap").iterdir()) if p.name.startswith("8MiB"))
        self.refuse(folder, 7, ".params")

    # What only the payload shows ends the job as FAILED: exit 1, with the place.

    def test_c1_that_is_cut_or_changed(self):
        original = requests("porep")[0]
        changes = {
            "empty": lambda c1: b"",
            "cut": lambda c1: c1[:len(c1) // 2],
            "no JSON": lambda c1: b"\xff" + c1[1:],
            "trailing bytes": lambda c1: c1 + b"{}",
            "another size": lambda c1: c1.replace(b"StackedDrg2KiB", b"StackedDrg8MiB"),
            "unknown seal": lambda c1: c1.replace(b"StackedDrg2KiB", b"StackedDrg3KiB"),
        }
        for name, change in changes.items():
            with self.subTest(change=name):
                folder = self.copy_of(original)
                self.change_c1(folder, change)
                self.refuse(folder, 6)
    
    def test_wrapper_that_is_broken(self):
        for text in ("{", "[]", '{"SectorNum":1}', '{"SectorNum":1,"Phase1Out":"*","SectorSize":2048}'):
            with self.subTest(text=text):
                folder = self.copy_of(requests("porep")[0])
                (folder / "c1.json").write_text(text)
                self.refuse(folder, 6)
    
    def test_a_changed_path_names_partition_and_challenge(self):
        folder = self.copy_of(requests("snap")[0])
        path = next(folder.glob("partition-0.bin"))
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
        self.refuse(folder, 6, "partition 0")

    def test_trailing_bytes_of_a_vanilla_proof(self):
        folder = self.copy_of(requests("winning")[0])
        path = next(folder.glob("vanilla-*.bin"))
        path.write_bytes(path.read_bytes() + b"\0")
        answer = self.daemon.control("prove", "--request", folder)
        self.assertIn(answer.code, (1, 6), answer)

    # Sizes.

    def test_S05_MessageOf256MiB(self):
        """Curio's client sends up to 256 MiB: that arrives, and is answered by what is in it."""
        folder = self.copy_of(requests("porep")[0])
        with open(folder / "c1.json", "wb") as file:
            file.write(b'{"SectorNum":1,"Phase1Out":"')
            file.write(b"A" * ((256 << 20) - 4096))
            file.write(b'","SectorSize":2048}')
        self.refuse(folder, 6)

    def test_a_message_beyond_the_limit_is_refused(self):
        folder = self.copy_of(requests("porep")[0])
        with open(folder / "c1.json", "wb") as file:
            file.truncate(301 << 20)
        self.refuse(folder, 6)

    def test_S02_request_ids_may_hold_anything(self):
        for name in ("wdpost-1000-0-[18 52 86 120 154 188 222 240]", "a\nb\x1b[2J", "ü€", "x" * 1000):
            with self.subTest(id=name):
                answer = self.daemon.control("--json", "prove", "--request", requests("winning")[0], "--id", name)
                self.assertEqual((answer.code, answer.json()["job_id"]), (0, name), answer)
        self.assertNotIn("\x1b", self.daemon.log())

    def test_unknown_jobs_are_not_found(self):
        for command in ("await", "cancel", "watch"):
            self.assertEqual(self.daemon.control(command, "nobody").code, 6)

    def test_a_request_directory_without_its_files(self):
        folder = self.copy_of(requests("porep")[0])
        os.remove(folder / "c1.json")
        self.refuse(folder, 2, "c1.json")
        os.remove(folder / "request.json")
        self.refuse(folder, 2, "request.json")


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
