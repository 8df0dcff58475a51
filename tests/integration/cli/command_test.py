#!/usr/bin/env python3
"""Manual pages, conversion of settings and doctor: the programs as an operator runs them.

Usage: command_test.py BIN VECTORS PARAMETERS DOUBLE   (DOUBLE: the folder of the double of libcuda.so.1)
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import daemon_fixture as fixture
from daemon_fixture import Daemon, control, run

DOUBLE = None

# What an operator of the incumbent may have: every key of its documents, old ones included.
INCUMBENT = """
[daemon]
listen = "127.0.0.1:9820"
status_listen = "127.0.0.1:9821"
[srs]
param_cache = "/data/zk/params"
preload = ["porep-32g"]
[memory]
total_budget = "auto"
safety_margin = "5GiB"
eviction_min_idle = "5m"
pinned_budget = "50GiB"
working_memory_budget = "100GiB"
[gpus]
devices = []
gpu_threads = 32
gpu_workers_per_device = 2
[scheduler]
max_batch_size = 1
max_batch_wait_ms = 10000
sort_by_type = true
[synthesis]
threads = 0
partition_workers = 12
[pipeline]
enabled = true
synthesis_lookahead = 1
synthesis_concurrency = 1
[logging]
level = "info"
format = "json"
"""


def cuzkd(*arguments, **options):
    return run(fixture.BIN / "cuzkd", *arguments, timeout=600, **options)


class InFolder(unittest.TestCase):

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cuzk-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)


class Manual(InFolder):
    PAGES = {"cuzkd.8": ("cuzkd", "--print-man", "cuzkd"), "cuzkd.toml.5": ("cuzkd", "--print-man", "cuzkd.toml"),
             "cuzkctl.1": ("cuzkctl", "--print-man")}

    def page(self, name):
        program, *arguments = self.PAGES[name]
        printed = run(fixture.BIN / program, *arguments)
        self.assertEqual(printed.code, 0, printed)
        path = self.folder / name
        path.write_text(printed.out)
        return path

    def shown(self, name):
        """The page as a reader sees it, blanks and lines joined."""
        path = self.page(name)
        done = subprocess.run(["man", "--warnings=w", "-l", str(path)], capture_output=True, text=True,
                              env={**os.environ, "MANWIDTH": "100", "MANPAGER": "cat", "LC_ALL": "C.UTF-8"})
        self.assertEqual((done.returncode, done.stderr), (0, ""), name)
        return re.sub(r"\s+", " ", re.sub(".\b", "", done.stdout))

    def test_roff_has_nothing_to_say(self):
        for name in self.PAGES:
            done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-z", str(self.page(name))],
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), name)

    def test_every_page_has_its_sections(self):
        for name in ("cuzkd.8", "cuzkctl.1"):
            shown = self.shown(name)
            for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SIGNALS", "FILES",
                            "ENVIRONMENT", "SEE ALSO"):
                self.assertIn(f" {section} ", shown, name)

    def test_every_setting_is_there(self):
        defaults = cuzkd("--print-config").out
        section, names = "", []
        for line in defaults.splitlines():
            if line.startswith("["):
                section = line.strip("[]") + "."
            elif "=" in line:
                names.append(section + line.split(" =")[0])
        self.assertGreater(len(names), 20)
        page, daemon = self.shown("cuzkd.toml.5"), self.shown("cuzkd.8")
        for name in names:
            self.assertIn(f"{name.split('.')[-1]} = ", page)
            self.assertIn("CUZK_" + name.replace(".", "_").upper(), page)
            self.assertIn(f"--{name} ", daemon)

    def test_every_option_is_there(self):
        help_text = cuzkd("--help").out
        shown = self.shown("cuzkd.8")
        for option in set(re.findall(r"(?<![\w-])--[\w.-]+", help_text)):
            self.assertIn(option, shown)

    def test_every_command_is_there(self):
        shown, pending, seen = self.shown("cuzkctl.1"), [[]], 0
        while pending:
            path = pending.pop()
            help_text = control(*path, "--help").out
            self.assertIn("Usage", help_text)
            head, _, commands = help_text.partition("Subcommands:")
            for option in set(re.findall(r"(?<![\w-])--[\w.-]+", head)):
                self.assertIn(option, shown, path)
            names = re.findall(r"^  (\w[\w-]*)", commands, re.MULTILINE)
            pending += [[*path, name] for name in names]
            if not names:
                seen += 1
                self.assertIn(f" {' '.join(path)} ", shown)
        self.assertGreater(seen, 15)


class Convert(InFolder):

    def test_every_key_is_named_and_the_result_is_accepted(self):
        old, ours = self.folder / "cuzk.toml", self.folder / "cuzkd.toml"
        old.write_text(INCUMBENT)
        converted = cuzkd("--convert-settings", old)
        self.assertEqual((converted.code, converted.err), (0, ""), converted)
        section = ""
        for line in INCUMBENT.splitlines():
            if line.startswith("["):
                section = line.strip("[]")
            elif line:
                self.assertIn(f"# {section}.{line.split(' =')[0]} (line ", converted.out)
        ours.write_text(converted.out)
        self.assertEqual(cuzkd("--check-config", "--config", ours).code, 0)
        in_force = cuzkd("--print-config", "--config", ours).out
        self.assertIn('listen = "127.0.0.1:9820"  # file', in_force)
        self.assertIn('directory = "/data/zk/params"  # file', in_force)

    def test_what_is_unknown_is_told_on_stderr(self):
        old = self.folder / "cuzk.toml"
        old.write_text('[memory]\ntotal_budget = "256 gib"\nbudget = "1GiB"\n')
        converted = cuzkd("--convert-settings", old)
        self.assertEqual(converted.code, 0, converted)
        self.assertIn("memory.total_budget: NOT UNDERSTOOD", converted.err)
        self.assertIn("memory.budget: UNKNOWN", converted.err)

    def test_no_toml_and_no_file(self):
        old = self.folder / "cuzk.toml"
        old.write_text("[daemon\n")
        self.assertEqual(cuzkd("--convert-settings", old).code, 78)
        self.assertEqual(cuzkd("--convert-settings", self.folder / "nothing").code, 78)


def has_card():
    return pathlib.Path("/proc/driver/nvidia").exists()


class Doctor(InFolder):

    def doctor(self, *arguments, environment=None):
        answer = control("--json", "doctor", *arguments,
                         environment={"CUZK_JOBS_STATE_DIRECTORY": str(self.folder), **(environment or {})})
        report = json.loads(answer.out)
        self.assertEqual(answer.code, {"ok": 0, "warn": 8, "fail": 1}[report["worst"]], answer)
        levels = [f["level"] for f in report["findings"]]
        self.assertEqual(report["worst"], next(l for l in ("fail", "warn", "ok") if l in levels))
        for finding in report["findings"]:
            self.assertTrue(finding["said"], finding)
            self.assertTrue(finding["level"] == "ok" or finding["advice"], finding)
        return {f["check"]: f for f in report["findings"]}

    def with_double(self, **variables):
        return self.doctor(environment={"LD_LIBRARY_PATH": str(DOUBLE), **variables})

    def test_a_machine_that_serves(self):
        daemon = Daemon()
        self.addCleanup(daemon.close)
        report = self.doctor("--address", daemon.address, environment={
            "CUZK_PARAMS_DIRECTORY": str(fixture.PARAMS), "CUZK_PARAMS_ALLOW_DEVELOPMENT": "true"})
        for check in ("processor", "settings", "versions", "memory", "huge pages", "driver", "disk", "state directory",
                      "daemon", "daemon version", "open files", "locked memory"):
            self.assertIn(check, report)
        self.assertEqual(report["daemon"]["level"], "ok")
        self.assertEqual(report["daemon version"]["level"], "ok")
        self.assertIn("of the daemon", report["open files"]["said"])
        self.assertIn("writable", report["state directory"]["said"])
        self.assertIn("MB/s", report["disk"]["said"])
        for circuit in ("porep-2k", "winning-2k", "wpost-2k", "snap-2k"):
            self.assertIn("development parameters", report[f"parameters {circuit}"]["said"])
        self.assertEqual(list(self.folder.iterdir()), [], "something was left")

    def test_it_goes_by_the_settings_of_the_running_daemon(self):
        file = self.folder / "cuzkd.toml"
        file.write_text('[jobs]\nqueue = 7\n[memory]\nbudget = "2GiB"\n')
        daemon = Daemon("--config", file, "--jobs.results", "5")
        self.addCleanup(daemon.close)
        report = self.doctor("--address", daemon.address, "--config", file, environment={
            "CUZK_PARAMS_DIRECTORY": str(self.folder), "CUZK_JOBS_RESULTS": "5"})
        # The folder of parameters is the daemon's, given by a flag: a difference, but of no file.
        self.assertIn("parameters winning-2k", report)
        self.assertIn("development parameters", report["parameters winning-2k"]["said"])
        found = report["daemon settings"]
        self.assertEqual(found["level"], "ok", found)
        self.assertIn("(flag --params.directory)", found["said"])
        self.assertIn("doctor checks with the daemon's values", found["said"])
        file.write_text('[jobs]\nqueue = 8\n[memory]\nbudget = "3GiB"\n')
        found = self.doctor("--address", daemon.address, "--config", file)["daemon settings"]
        self.assertEqual(found["level"], "warn", found)
        self.assertIn("jobs.queue is 7 in the daemon", found["said"])
        self.assertIn("systemctl reload cuzkd applies jobs.queue", found["advice"])
        self.assertIn("systemctl restart cuzkd applies memory.budget", found["advice"])

    def test_digests_of_development_files_are_compared_with_their_record(self):
        name = next(json.loads(line)["params"] for line in control("--json", "circuit", "list").out.splitlines()
                    if json.loads(line)["circuit_id"] == "winning-2k")
        for file in fixture.PARAMS.glob(name.removesuffix(".params") + ".*"):
            shutil.copy(file, self.folder)
        environment = {"CUZK_PARAMS_DIRECTORY": str(self.folder), "CUZK_PARAMS_ALLOW_DEVELOPMENT": "true"}
        found = self.doctor("--digests", environment=environment)["parameters winning-2k"]
        self.assertEqual(found["level"], "warn", found)
        self.assertIn("the digest matches the development record", found["said"])
        with open(self.folder / name, "r+b") as file:
            file.seek(-40, 2)
            byte = file.read(1)
            file.seek(-40, 2)
            file.write(bytes([byte[0] ^ 1]))
        found = self.doctor("--digests", environment=environment)["parameters winning-2k"]
        self.assertEqual(found["level"], "fail", found)
        self.assertIn("params make", found["advice"])

    def test_development_parameters_are_refused_where_the_daemon_refuses_them(self):
        report = self.doctor(environment={"CUZK_PARAMS_DIRECTORY": str(fixture.PARAMS)})
        self.assertEqual(report["parameters winning-2k"]["level"], "fail")

    def test_digests_of_published_names_are_compared(self):
        name = next(json.loads(line)["params"] for line in control("--json", "circuit", "list").out.splitlines()
                    if json.loads(line)["circuit_id"] == "winning-32g")
        made = next(p for p in fixture.PARAMS.glob("*.params") if (fixture.PARAMS / p).stat().st_size < 2**26)
        shutil.copy(made, self.folder / name)
        shutil.copy(made.with_suffix(".vk"), (self.folder / name).with_suffix(".vk"))
        environment = {"CUZK_PARAMS_DIRECTORY": str(self.folder)}
        report = self.doctor("--digests", environment=environment)
        self.assertIn("this is not the published file", report["parameters winning-32g"]["said"])
        # Of the published length, and without the record of development parameters: the digests tell.
        name = next(json.loads(line)["params"] for line in control("--json", "circuit", "list").out.splitlines()
                    if json.loads(line)["circuit_id"] == "winning-2k")
        for file in (fixture.PARAMS / name, (fixture.PARAMS / name).with_suffix(".vk")):
            shutil.copy(file, self.folder)
        report = self.doctor("--digests", environment=environment)
        self.assertIn("is not the published key", report["parameters winning-2k"]["said"])

    def test_wrong_settings_are_a_finding(self):
        file = self.folder / "cuzkd.toml"
        file.write_text("[jobs]\nqeue = 1\n")
        report = self.doctor("--config", file)
        self.assertEqual(report["settings"]["level"], "fail")
        self.assertIn(f"{file}:2", report["settings"]["said"])

    def test_before_the_first_start_it_says_what_to_do(self):
        report = self.doctor("--address", f"unix:{self.folder}/s",
                             environment={"CUZK_JOBS_STATE_DIRECTORY": str(self.folder / "none")})
        self.assertEqual((report["daemon"]["level"], report["state directory"]["level"]), ("warn", "ok"))
        self.assertIn("has not been started on this machine", report["daemon"]["said"])
        self.assertIn("systemctl start", report["daemon"]["advice"])
        self.assertIn("first start creates it", report["state directory"]["advice"])
        self.assertFalse((self.folder / "none").exists())

    def test_no_daemon(self):
        report = self.doctor("--address", f"unix:{self.folder}/s")
        self.assertEqual(report["daemon"]["level"], "fail")
        self.assertIn("systemctl start", report["daemon"]["advice"])
        self.assertIn("of this shell", report["open files"]["said"])

    @unittest.skipIf(has_card(), "this machine has a card")
    def test_without_a_card_it_says_so(self):
        report = self.doctor()
        self.assertEqual(report["driver"]["level"], "warn")
        self.assertIn("no NVIDIA driver", report["driver"]["said"])
        self.assertEqual(self.doctor(environment={"CUZK_DEVICES_USE": "gpu"})["driver"]["level"], "fail")
        self.assertEqual(self.doctor(environment={"CUZK_DEVICES_USE": "cpu"})["driver"]["level"], "ok")

    def test_a_card_is_measured(self):
        report = self.with_double()
        self.assertIn("Double of a card, 8192 MiB, compute capability 9.0", report["card 0"]["said"])
        self.assertEqual(report["card 0 pinned memory"]["level"], "ok")
        slow = self.with_double(CUDA_DOUBLE_SLOW="1")["card 0 pinned memory"]
        self.assertEqual(slow["level"], "warn")
        self.assertIn("wider slot", slow["advice"])

    def test_a_card_that_the_build_has_no_code_for(self):
        self.assertNotIn("card 0 code", self.with_double(CUDA_DOUBLE_CAPABILITY="200"))  # PTX serves later cards
        report = self.with_double(CUDA_DOUBLE_CAPABILITY="70")
        if "cuda none" in control("--version").out:
            self.assertNotIn("card 0 code", report)
            return
        self.assertEqual(report["card 0 code"]["level"], "fail")
        self.assertRegex(report["card 0 code"]["said"],
                         r"^this build has no code for Double of a card \(7\.0\); it has code for \d+\.\d")

    def test_drivers_that_do_not_work(self):
        self.assertIn("CUDA_ERROR_NO_DEVICE", self.with_double(CUDA_DOUBLE_FAILS="cuInit")["driver"]["said"])
        self.assertIn("no card", self.with_double(CUDA_DOUBLE_FAILS="cuDeviceGetCount")["driver"]["said"])
        pinned = self.with_double(CUDA_DOUBLE_FAILS="cuMemHostAlloc")["card 0 pinned memory"]
        self.assertEqual(pinned["level"], "fail")
        self.assertIn("CUDA_ERROR_OUT_OF_MEMORY", pinned["said"])
        old = self.with_double(CUDA_DOUBLE_FAILS="cuDriverGetVersion")["driver"]
        self.assertNotEqual(old["level"], "ok")  # too old for the build, or a build without CUDA

    def test_a_driver_that_cannot_be_used_is_told_with_its_number_and_the_cure(self):
        for code, words in ((3, "uvm_disable_hmm=1"), (35, "install a newer driver"), (46, "--gpu-reset"),
                            (100, "CUDA_VISIBLE_DEVICES"), (101, "nvidia-smi -L"), (802, "start nvidia-fabricmanager"),
                            (803, "reboot"), (804, "cuda/compat"), (805, "CUDA_MPS_PIPE_DIRECTORY"),
                            (806, "CUDA_MPS_PIPE_DIRECTORY"), (807, "CUDA_MPS_PIPE_DIRECTORY"),
                            (808, "end another program"), (809, "end another program"), (999, "modprobe nvidia_uvm")):
            with self.subTest(code):
                said = self.with_double(CUDA_DOUBLE_CODE=str(code))["driver"]["said"]
                self.assertIn(f"cuInit: {code} (", said)
                self.assertIn(words, said)

    def test_text_for_people(self):
        printed = control("doctor", "--address", f"unix:{self.folder}/s",
                          environment={"CUZK_JOBS_STATE_DIRECTORY": str(self.folder)}).out
        self.assertRegex(printed, r"(?m)^fail  daemon: does not answer")
        self.assertRegex(printed, r"(?m)^        -> systemctl start cuzkd")


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    DOUBLE = pathlib.Path(sys.argv[4])
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
