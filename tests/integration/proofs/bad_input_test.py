#!/usr/bin/env python3
"""What is wrong with what came: all bad sectors of a WindowPoSt in one answer, and parameter files that are not the
published ones, told when a request arrives.

Usage: bad_input_test.py BIN VECTORS PARAMETERS
"""

import json
import pathlib
import shutil
import sys
import tempfile
import unittest

import daemon_fixture as fixture

REQUEST = "2KiB-window_v1_2-1000-2of4-part1"  # sectors 142 and 149
COMM_C = -64                                  # where it begins in an item, from the end


class BadInput(fixture.DaemonTest):

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cuzk-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def damaged(self, *items):
        """The request with a byte changed in each of these items."""
        request = self.folder / "request"
        shutil.rmtree(request, ignore_errors=True)
        shutil.copytree(fixture.VECTORS / "window" / REQUEST, request)
        sectors = json.loads((request / "request.json").read_text())["sectors"]
        for item in items:
            file = request / sectors[item]["file"]
            bytes_ = bytearray(file.read_bytes())
            bytes_[COMM_C] ^= 1
            file.chmod(0o644)
            file.write_bytes(bytes_)
        return request

    def test_all_bad_sectors_are_in_one_answer(self):
        answer = self.daemon.control("--json", "prove", "--request", self.damaged(0, 1), "--id", "both")
        self.assertNotEqual(answer.code, 0, answer)
        told = answer.json()
        self.assertEqual(told["status"], "FAILED")
        self.assertEqual(told["bad_sectors"], [142, 149])
        self.assertTrue(told["error"].startswith(
            "2 sectors are bad: 142, 149; sector 142 (item 0), comm_r: is not the hash of comm_c and comm_r_last; "
            "sector 149 (item 1), comm_r: "), told["error"])
        again = self.daemon.control("--json", "await", "both").json()
        self.assertEqual(again["bad_sectors"], [142, 149])

    def test_one_bad_sector_is_named_by_its_number(self):
        told = self.daemon.control("--json", "prove", "--request", self.damaged(1), "--id", "one").json()
        self.assertEqual(told["bad_sectors"], [149])
        self.assertEqual(told["error"], "sector 149 (item 1), comm_r: is not the hash of comm_c and comm_r_last")

    def test_what_is_whole_has_no_bad_sectors(self):
        answer = self.daemon.control("--json", "prove", "--request", self.damaged(), "--id", "whole")
        self.assertEqual(answer.code, 0, answer)
        self.assertNotIn("bad_sectors", answer.json())


class BadParameters(unittest.TestCase):

    def test_a_file_that_is_not_the_published_one_is_told_when_a_request_arrives(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="cuzk-test-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        name = next(path.name for path in fixture.PARAMS.glob("*.params") if path.stat().st_size == 11501496)
        daemon = fixture.Daemon(params=folder)
        self.addCleanup(daemon.close)
        request = fixture.VECTORS / "window" / REQUEST
        whole = (fixture.PARAMS / name).read_bytes()
        for content in (b"", b"<html>504 Gateway Time-out</html>", whole[:len(whole) // 2], bytes(len(whole))):
            with self.subTest(bytes=len(content)):
                (folder / name).write_bytes(content)
                answer = daemon.control("prove", "--request", request)
                self.assertEqual(answer.code, 7, answer)
                self.assertIn(f"this is not the published file: {len(content)} bytes, {len(whole)} expected; the "
                              "download failed or was cut", answer.err)
        (folder / name).unlink()
        self.assertIn(f"{name} (11501496 bytes) is not in {folder}", daemon.control("prove", "--request", request).err)


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
