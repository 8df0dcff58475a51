#!/usr/bin/env python3
"""The code for cards that the daemon carries: every capability that it claims is there for every kernel, the last one
also as PTX, and the kernels in which proofs spend their time take no more registers and local memory (where spilled
registers lie) than kernel_limits.csv allows on any capability, so that a change that spills on cards which nobody here
has is seen. Needs no card.

Usage: kernels_test.py BIN VECTORS PARAMETERS TABLE
       kernels_test.py --print PROGRAM          registers and bytes of local memory of all kernels, by capability
"""

import csv
import pathlib
import re
import subprocess
import sys
import unittest

import kernel_code

PROGRAM = TABLE = None


def cards_code(path):
    """The containers of the program that have kernels of ours."""
    found = kernel_code.containers(path.read_bytes())
    return [c for c in found if any("4cuzk3gpu" in name for e in c if e.kind == kernel_code.INSTRUCTIONS
                                    for name in kernel_code.usage(e.body))]


def measured(containers):
    """{kernel: {capability: Usage}} of our own kernels; those of CUB are CUDA's matter."""
    mangled = {}
    for container in containers:
        for entry in container:
            if entry.kind == kernel_code.INSTRUCTIONS:
                for name, used in kernel_code.usage(entry.body).items():
                    if "4cuzk3gpu" in name:
                        mangled.setdefault(name, {})[entry.capability] = used
    names, found = kernel_code.short_names(mangled), {}
    for name, by_capability in mangled.items():
        assert names[name] not in found, f"two kernels are called {names[name]}"
        found[names[name]] = by_capability
    return found


def limits():
    """{kernel: Usage} of the table."""
    with TABLE.open(newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return {row["kernel"]: kernel_code.Usage(int(row["registers"]), int(row["stack"])) for row in rows}


def excess(found, allowed):
    """What is over the limits, a line each."""
    return [f"{kernel} on {capability}: {used}, at most {limit}"
            for kernel, limit in sorted(allowed.items()) for capability, used in sorted(found[kernel].items())
            if used.registers > limit.registers or used.stack > limit.stack]


class Kernels(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        said = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
        claimed = re.search(r"architectures ([\w ]+)$", said, re.M).group(1)
        if claimed == "none":
            raise unittest.SkipTest("this build has no CUDA back end")
        cls.claimed = [int(c) for c in claimed.split()]
        cls.containers = cards_code(PROGRAM)

    def test_every_capability_that_is_claimed_is_there_for_every_source(self):
        self.assertGreater(len(self.containers), 4)
        for container in self.containers:
            there = [e.capability for e in container if e.kind == kernel_code.INSTRUCTIONS]
            self.assertEqual(sorted(there), self.claimed)
            self.assertEqual([e.capability for e in container if e.kind == kernel_code.PTX], self.claimed[-1:])

    def test_every_kernel_is_there_for_every_capability(self):
        for kernel, by_capability in measured(self.containers).items():
            self.assertEqual(sorted(by_capability), self.claimed, kernel)

    def test_no_kernel_takes_more_than_its_limit(self):
        found = measured(self.containers)
        self.assertEqual(set(limits()) - set(found), set(), "kernels of the table that the program does not have")
        self.assertEqual(excess(found, limits()), [])

    def test_a_kernel_over_its_limit_is_found(self):
        table = {"A": kernel_code.Usage(128, 8)}
        self.assertEqual(excess({"A": {86: kernel_code.Usage(128, 8), 89: kernel_code.Usage(96, 0)}}, table), [])
        for used in ((130, 0), (128, 16)):
            self.assertEqual(len(excess({"A": {86: kernel_code.Usage(*used), 89: kernel_code.Usage(1, 0)}}, table)), 1)


def show(program):
    found = measured(cards_code(program))
    for kernel in sorted(found):
        print(kernel, *(f"{capability}:{used.registers}/{used.stack}" for capability, used in found[kernel].items()))


if __name__ == "__main__":
    if sys.argv[1] == "--print":
        show(pathlib.Path(sys.argv[2]))
    else:
        PROGRAM, TABLE = pathlib.Path(sys.argv[1]) / "cuzkd", pathlib.Path(sys.argv[4])
        unittest.main(argv=sys.argv[:1], verbosity=2)
