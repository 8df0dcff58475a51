#!/usr/bin/env python3
"""Sectors of the middle sizes through the daemon, from `params make` to `verify`: made ones, and the recorded requests of
those sizes. Minutes to hours: `long`.

Usage: made_sector_test.py BIN VECTORS FOLDER [unittest arguments]   (FOLDER: needs 5 GB while the test runs, SnapDeals of
512 MiB 24 GB)

What a machine is too small for is skipped in words.
"""

import os
import pathlib
import shutil
import sys
import tempfile
import time
import unittest

import daemon_fixture as fixture
from daemon_fixture import Daemon, control

FOLDER = None
HOUR = 3600


def recorded(kind, size):
    """The recorded requests of a kind and size, of the full set where it is there."""
    fixtures = os.environ.get("CUZK_FIXTURES")
    root = (pathlib.Path(fixtures) if fixtures else fixture.VECTORS) / kind
    return [folder for folder in sorted(root.iterdir()) if folder.name.startswith(f"{size}-")]


class MadeSectors(unittest.TestCase):

    def setUp(self):
        FOLDER.mkdir(parents=True, exist_ok=True)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="made-", dir=FOLDER))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def control(self, *arguments, **options):
        """Runs cuzkctl and says how long it took."""
        began = time.monotonic()
        answer = control(*arguments, timeout=4 * HOUR, **options)
        print(f"  {' '.join(str(a) for a in arguments[:3])}: {time.monotonic() - began:.1f} s", flush=True)
        self.assertEqual(answer.code, 0, answer)
        return answer

    def need(self, disk, memory):
        """Skips where the folder's disk or the machine has fewer GB to give."""
        there = shutil.disk_usage(FOLDER).free >> 30
        if there < disk:
            self.skipTest(f"parameters and their making need {disk} GB of disk; there are {there}")
        lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
        there = int(next(line for line in lines if line.startswith("MemAvailable")).split()[1]) >> 20
        if there < memory:
            self.skipTest(f"parameters and proofs need {memory} GB of memory; there are {there}")

    def prove(self, kind, size):
        params = self.folder / "params"
        key = {"CUZK_PARAMS_DIRECTORY": str(params)}
        self.control("params", "make", "--kind", kind, "--size", size, "--out", params)
        # Another seed is another sector: its proof must not pass for the first one.
        for seed in (1, 2):
            self.control("sector", "make", "--kind", kind, "--size", size, "--seed", seed, "--out",
                         self.folder / f"sector-{seed}")
        other = self.folder / "sector-2"
        daemon = Daemon(params=params)
        self.addCleanup(daemon.close)
        proof = self.folder / "proof"
        for request in (self.folder / "sector-1", *recorded(kind, size)):
            with self.subTest(request=request.name):
                self.control("prove", "--address", daemon.address, "--request", request, "--out", proof)
                self.control("verify", "--request", request, "--proof", proof, environment=key)
                answer = control("verify", "--request", other, "--proof", proof, environment=key)
                self.assertEqual(answer.code, 1, answer)

    def test_winning_8MiB(self):
        self.prove("winning", "8MiB")

    def test_winning_512MiB(self):
        self.prove("winning", "512MiB")

    def test_window_8MiB(self):
        self.prove("window", "8MiB")

    def test_window_512MiB(self):
        self.prove("window", "512MiB")

    def test_porep_8MiB(self):
        self.prove("porep", "8MiB")

    def test_porep_512MiB(self):
        self.prove("porep", "512MiB")

    def test_snap_8MiB(self):
        self.prove("snap", "8MiB")

    def test_snap_512MiB(self):
        self.need(disk=24, memory=16)
        self.prove("snap", "512MiB")


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    FOLDER = pathlib.Path(sys.argv[3])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
