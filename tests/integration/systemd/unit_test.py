#!/usr/bin/env python3
"""The unit of systemd: what systemd itself says about it, and that it agrees with the program.

Usage: unit_test.py BIN VECTORS PARAMETERS ROOT
"""

import configparser
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import daemon_fixture as fixture
import net_fixture as net

ROOT = None
# Tenths, as `systemd-analyze security` counts exposure: 10.0 is none of its advice followed. What is left is the network
# that the daemon serves, the devices of the GPU, /var/tmp with the parameters, and what the CUDA driver would not bear.
THRESHOLD = 19


class Unit(unittest.TestCase):

    def setUp(self):
        if shutil.which("systemd-analyze") is None:
            self.fail("systemd-analyze is not there; the test packages of ./dev include systemd")
        self.folder = net.folder_for(self)
        self.unit = self.folder / "cuzkd.service"
        self.unit.write_text(self.source().replace("/usr/bin/cuzkd", str(fixture.BIN.resolve() / "cuzkd")))

    @staticmethod
    def source():
        return (ROOT / "systemd" / "cuzkd.service").read_text()

    def analyze(self, *arguments):
        return subprocess.run(["systemd-analyze", "--no-pager", *arguments, str(self.unit)], capture_output=True, text=True)

    def test_systemd_understands_every_line(self):
        verified = self.analyze("verify", "--man=no")
        self.assertEqual((verified.returncode, verified.stdout + verified.stderr), (0, ""))
        self.unit.write_text(self.unit.read_text() + "\n[Service]\nNoSuchDirective=1\n")
        self.assertIn("NoSuchDirective", self.analyze("verify", "--man=no").stderr)  # it does look

    def test_the_exposure_is_within_the_recorded_threshold(self):
        within = self.analyze("security", "--offline=true", f"--threshold={THRESHOLD}")
        self.assertEqual(within.returncode, 0, within.stdout + within.stderr)
        below = self.analyze("security", "--offline=true", f"--threshold={THRESHOLD - 1}")
        self.assertNotEqual(below.returncode, 0, f"the threshold can be lowered: {below.stdout.splitlines()[-1]}")

    def section(self):
        parser = configparser.ConfigParser(strict=False, interpolation=None)
        parser.optionxform = str
        parser.read_string(self.source())
        return parser["Service"]

    def test_it_agrees_with_the_program(self):
        service = self.section()
        defaults = fixture.run(fixture.BIN / "cuzkd", "--print-defaults").out
        self.assertIn(f'unix:/run/{service["RuntimeDirectory"]}/cuzkd.sock', defaults)
        self.assertIn(f'state_directory = "/var/lib/{service["StateDirectory"]}"', defaults)
        drain = int(re.search(r'#drain = "(\d+)m"', defaults).group(1))
        self.assertGreater(int(service["TimeoutStopSec"].removesuffix("min")), drain)
        self.assertEqual(service["Type"], "notify")
        self.assertIn("-HUP", service["ExecReload"])
        self.assertTrue(service["WatchdogSec"])

    def test_the_module_of_cuda_is_there_before_the_devices_are_looked_up(self):
        source = self.source()
        for key in ("After", "Wants"):
            self.assertRegex(source, rf"(?m)^{key}=.*\bmodprobe@nvidia_uvm\.service\b")
        self.assertIn("DeviceAllow=char-nvidia-uvm rw", source)
        self.assertNotIn("PrivateDevices", re.sub(r"(?m)^#.*", "", source))
        self.assertIn("nvidia-modprobe -c 0 -u", self.section()["ExecStartPre"])

    def test_a_mistake_in_the_settings_is_not_tried_again(self):
        service = self.section()
        self.assertEqual(service["Restart"], "on-failure")
        # Exit codes that a restart does not mend: usage, permission, settings.
        self.assertEqual(service["RestartPreventExitStatus"], "2 77 78")
        # systemd looks at the main process for that, not at what runs before or after it: nothing else may fail.
        self.assertEqual([key for key in service if key.startswith("ExecStart")], ["ExecStartPre", "ExecStart"])
        self.assertTrue(service["ExecStartPre"].startswith("-"), "its failure is ignored")
        bad = self.folder / "bad.toml"
        bad.write_text("[jobs]\nqueue = 0\n")
        command = service["ExecStart"].replace("/usr/bin/cuzkd", str(fixture.BIN / "cuzkd")).split()
        self.assertEqual(fixture.run(*command, "--config", bad).code, 78)
        self.assertEqual(fixture.run(*command, "--no-such-flag").code, 2)

    def test_a_failure_is_tried_again_after_a_while(self):
        service = self.section()
        self.assertEqual(service["Restart"], "on-failure")
        self.assertGreaterEqual(int(service["RestartSec"]), 5)

    def test_a_stop_reaches_the_main_process_first(self):
        self.assertEqual(self.section()["KillMode"], "mixed")

    def test_it_starts_after_the_network_and_the_driver(self):
        after = re.search(r"(?m)^After=(.*)$", self.source()).group(1).split()
        for name in ("network-online.target", "nvidia-persistenced.service", "systemd-modules-load.service"):
            self.assertIn(name, after)
        self.assertIn("Wants=network-online.target", self.source())
        self.assertNotIn("graphical.target", self.source())

    def test_limits_are_those_of_a_prover(self):
        service = self.section()
        for name, value in (("LimitMEMLOCK", "infinity"), ("LimitNOFILE", "1048576"), ("LimitCORE", "0"),
                            ("TasksMax", "infinity"), ("OOMScoreAdjust", "-500")):
            self.assertEqual(service[name], value, name)

    def test_it_is_hardened(self):
        service = self.section()
        for name in ("NoNewPrivileges", "ProtectHome", "ProtectKernelModules", "ProtectKernelTunables",
                     "ProtectControlGroups", "RestrictSUIDSGID", "RestrictNamespaces", "RestrictRealtime",
                     "LockPersonality"):
            self.assertEqual(service[name], "yes", name)
        for name, value in (("ProtectSystem", "strict"), ("CapabilityBoundingSet", ""), ("UMask", "0077"),
                            ("RestrictAddressFamilies", "AF_UNIX AF_INET AF_INET6"), ("DevicePolicy", "closed"),
                            ("RuntimeDirectoryMode", "0750"), ("StateDirectoryMode", "0700")):
            self.assertEqual(service[name], value, name)

    def test_nothing_hides_the_cards(self):
        service = self.section()
        self.assertNotIn("PrivateDevices", service)
        self.assertNotIn("MemoryDenyWriteExecute", service)  # the driver compiles for the card at run time
        self.assertIn("char-nvidia", self.source())

    def test_the_user_is_made_and_the_parameters_are_kept(self):
        self.assertIn("u cuzkd ", (ROOT / "systemd" / "cuzkd.sysusers").read_text())
        self.assertIn("x /var/tmp/filecoin-proof-parameters", (ROOT / "systemd" / "cuzkd.tmpfiles").read_text())


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    ROOT = pathlib.Path(sys.argv[4])
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
