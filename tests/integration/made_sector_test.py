#!/usr/bin/env python3
"""Made sectors of the middle sizes through the daemon, from `params make` to `verify`. Minutes to hours: `long`.

Usage: made_sector_test.py BIN VECTORS FOLDER [unittest arguments]   (FOLDER: needs 5 GB while the test runs)

SnapDeals of 512 MiB are not here: their parameters take 21 GB, and their 16 partitions hours of two cores.
"""

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

    def prove(self, kind, size):
        params = self.folder / "params"
        key = {"CUZK_PARAMS_DIRECTORY": str(params)}
        self.control("params", "make", "--kind", kind, "--size", size, "--out", params)
        # Another seed is another sector: its proof must not pass for the first one.
        for seed in (1, 2):
            self.control("sector", "make", "--kind", kind, "--size", size, "--seed", seed, "--out",
                         self.folder / f"sector-{seed}")
        daemon = Daemon(params=params)
        self.addCleanup(daemon.close)
        proof = self.folder / "proof"
        self.control("prove", "--address", daemon.address, "--request", self.folder / "sector-1", "--out", proof)
        self.control("verify", "--request", self.folder / "sector-1", "--proof", proof, environment=key)
        other = control("verify", "--request", self.folder / "sector-2", "--proof", proof, environment=key)
        self.assertEqual(other.code, 1, other)

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


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    FOLDER = pathlib.Path(sys.argv[3])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
