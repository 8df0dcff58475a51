#!/usr/bin/env python3
"""Our programs beside another prover's, in one run: ratios, and whether each reaches its limit.

    compare.py --programs build/release/bin --peers DIR [--rounds N]

DIR holds `peerbench` and `peerproof`. Rounds alternate between the two sides and the least time of each counts. All but
the last rows use one core, which the operating system is told: the peer's own pool takes every processor that it sees,
whatever its variables say. The answers are checked by the programs themselves. Ends with 1 if a limit is missed.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

ONE_CORE = {"EC_GPU_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}


class Row:
    """One comparison: what we run (a google-benchmark name, or our setup program), what the peer runs, and the least
    ratio with AVX-512 IFMA; without it (fma) a third of it has to be reached."""

    def __init__(self, title, ours, peer, limit):
        self.title, self.ours, self.peer, self.limit = title, ours, peer, limit


ROWS = [
    Row("NTT 2^16", "NttBench/{}/log2:16/threads:1", "ntt 16", None),
    Row("NTT 2^20", "NttBench/{}/log2:20/threads:1", "ntt 20", 6),
    Row("G1 MSM 2^16", "MsmBenchG1/{}/log2:16/threads:1", "msm 16", 3),
    Row("G1 MSM 2^20", "MsmBenchG1/{}/log2:20/threads:1", "msm 20", 3),
    Row("G2 MSM 2^14", "MsmBenchG2/{}/log2:14/threads:1", "msm-g2 14", 6),
    Row("parameters 2^16", "setup 16", "setup 16", 12),
]
PROOF_LIMIT = 8
TWO_CORES = ["NttBench/ifma/log2:20", "MsmBenchG1/ifma/log2:20", "MsmBenchG2/ifma/log2:17", "MsmBenchG1/fma/log2:16"]


def output(command, cores=None, **environment):
    """What the command prints; on so many of this process's processors, or on all."""

    def stay():
        if cores is not None:
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])

    done = subprocess.run(command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True, check=True,
                          preexec_fn=stay)
    return done.stdout


class Programs:
    def __init__(self, ours, peers):
        self.ours, self.peers = ours, peers

    def benchmark(self, name, cores=None):
        """Seconds of one google-benchmark case, by the clock."""
        command = [self.ours / "cuzk_algebra_bench", "--benchmark_format=json", f"--benchmark_filter=^{name}/"]
        text = output(command, cores)
        (run,) = json.loads(text)["benchmarks"]
        if run.get("error_occurred"):
            sys.exit(f"{name}: {run['error_message']}")
        return run["real_time"] * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[run["time_unit"]]

    def our_seconds(self, row, arithmetic):
        if row.ours.startswith("setup"):
            command = [self.ours / "cuzk_setup_bench", row.ours.split()[1], "--threads", "1"]
            text = output(command, cores=1, CUZK_CPU_ARITHMETIC=arithmetic)
            return float(re.search(r": ([0-9.]+) s;", text)[1])
        return self.benchmark(row.ours.format(arithmetic), cores=1)

    def peer_seconds(self, row):
        """The faster one where the peer has two ways."""
        text = output([self.peers / "peerbench", *row.peer.split()], cores=1, **ONE_CORE)
        return min(float(seconds) for seconds in re.findall(r"seconds ([0-9.]+)", text))

    def proof(self, arithmetic):
        """(our seconds, our peak memory in MB, the peer's seconds, its peak)"""
        text = output([self.ours / "cuzk_prover_bench", "proof", "porep", "--threads", "2", "--peer",
                       self.peers / "peerproof"], CUZK_CPU_ARITHMETIC=arithmetic, EC_GPU_NUM_THREADS="2",
                      RAYON_NUM_THREADS="2")
        ours = re.search(r"proof +porep +([0-9.]+) s +verified; peak memory ([0-9]+) MB", text)
        peer = re.search(r"peer prove .* seconds ([0-9.]+) peak ([0-9]+) kB", text)
        return float(ours[1]), int(ours[2]), float(peer[1]), int(peer[2]) // 1024


def verdict(ratio, limit):
    if limit is None:
        return ""
    return f"at least {limit:.2g}: " + ("yes" if ratio >= limit else "NO")


def compare_cores(programs, rounds):
    missed = 0
    print("| one core | ours, ifma | fma | peer | ifma against peer | fma against peer |\n|---|---|---|---|---|---|")
    for row in ROWS:
        times = {"ifma": [], "fma": [], "peer": []}
        for _ in range(rounds):
            times["ifma"].append(programs.our_seconds(row, "ifma"))
            times["peer"].append(programs.peer_seconds(row))
            times["fma"].append(programs.our_seconds(row, "fma"))
        ifma, fma, peer = (min(times[side]) for side in ("ifma", "fma", "peer"))
        third = row.limit and row.limit / 3
        print(f"| {row.title} | {ifma * 1e3:.1f} ms | {fma * 1e3:.1f} ms | {peer * 1e3:.1f} ms "
              f"| {peer / ifma:.2f} {verdict(peer / ifma, row.limit)} | {peer / fma:.2f} {verdict(peer / fma, third)} |",
              flush=True)
        if row.limit:
            missed += (peer / ifma < row.limit) + (peer / fma < third)
    return missed


def compare_proofs(programs):
    missed = 0
    print("\n| a 2 KiB PoRep proof, two cores | ours | peer | ratio |\n|---|---|---|---|")
    for arithmetic, limit in (("ifma", PROOF_LIMIT), ("fma", PROOF_LIMIT / 3)):
        ours, memory, peer, peer_memory = programs.proof(arithmetic)
        print(f"| {arithmetic} | {ours:.2f} s, {memory} MB | {peer:.2f} s, {peer_memory} MB "
              f"| {peer / ours:.2f} {verdict(peer / ours, limit)} |", flush=True)
        missed += (peer / ours < limit) + (memory >= peer_memory)
    return missed


def compare_threads(programs):
    print("\n| | one core | two cores | |\n|---|---|---|---|")
    for name in TWO_CORES:
        one, two = (programs.benchmark(f"{name}/threads:{n}") for n in (1, 2))
        print(f"| {name} | {one * 1e3:.1f} ms | {two * 1e3:.1f} ms | {one / two:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--peers", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    programs = Programs(options.programs, options.peers)
    missed = compare_cores(programs, options.rounds) + compare_proofs(programs)
    compare_threads(programs)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
