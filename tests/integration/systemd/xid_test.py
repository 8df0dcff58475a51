#!/usr/bin/env python3
"""What is wrong with cards: errors that the driver reports (Xid), with a double of NVIDIA's management library, and the
self-test.

Usage: xid_test.py BIN VECTORS PARAMETERS DOUBLES
"""

import json
import sys
import unittest

import daemon_fixture as fixture
import net_fixture as net

DOUBLES = None
SERIES = 'cuzk_gpu_xid_total{gpu="0",gpu_uuid="GPU-double"}'


class Xid(unittest.TestCase):

    def start(self, *, library=None, uuid="GPU-double", left_out=None, **double):
        variables = {f"NVML_DOUBLE_{name.upper()}": value for name, value in double.items()}
        if left_out:
            variables["FAULTY_CUZKD_LEFT_OUT"] = left_out
        daemon = net.FaultyDaemon(environment={"FAULTY_CUZKD_CARD": uuid, "LD_LIBRARY_PATH": str(library or DOUBLES),
                                               **variables})
        self.addCleanup(daemon.close)
        return daemon

    def test_each_is_counted_and_told(self):
        daemon = self.start(events="31,lost,79")
        net.wait_for(lambda: net.metrics(daemon)[SERIES] == 2, "both errors, though a card was lost in between")
        lines = [line for line in daemon.log().splitlines() if "the driver reports an error of this card" in line]
        self.assertEqual(len(lines), 2, daemon.log())
        for line, code in zip(lines, ("31", "79")):
            self.assertIn("error", line)
            for field in ("gpu=0", "gpu_uuid=GPU-double", f"xid={code}"):
                self.assertIn(field, line)
        daemon.terminate()
        self.assertEqual(daemon.process.wait(timeout=600), 0)

    def card(self, daemon):
        return json.loads(net.http_get(daemon, "/status")[1])["devices"][0]["card"]

    def test_the_page_is_told_what_the_card_measures(self):
        daemon = self.start()
        net.wait_for(lambda: self.card(daemon) is not None, "the first reading")
        self.assertEqual(self.card(daemon), {
            "temperature_celsius": 61, "power_watts": 512, "power_limit_watts": 700, "sm_clock_mhz": 1980, "memory_clock_mhz": 2619,
            "pcie_sent_bytes_per_sec": 3 << 20, "pcie_received_bytes_per_sec": 12 << 30, "pcie_generation": 5, "pcie_width": 16})
        daemon = self.start(fails="nvmlDeviceGetPowerUsage")
        net.wait_for(lambda: self.card(daemon) is not None, "the first reading")
        self.assertIsNone(self.card(daemon)["power_watts"])
        self.assertEqual(self.card(daemon)["power_limit_watts"], 700)
        for options in ({"library": net.folder_for(self)}, {"fails": "nvmlInit_v2"}):
            self.assertIsNone(self.card(self.start(**options)))

    def test_none_is_a_zero(self):
        self.assertEqual(net.metrics(self.start())[SERIES], 0)

    def test_where_they_are_not_reported_the_log_says_so_and_the_series_is_absent(self):
        empty = net.folder_for(self)
        for why, options in (("libnvidia-ml.so.1 was not found", {"library": empty}),
                             ("nvmlInit: Not Supported", {"fails": "nvmlInit_v2"}),
                             ("nvmlEventSetCreate: Not Supported", {"fails": "nvmlEventSetCreate"}),
                             ("Not Supported", {"fails": "nvmlDeviceRegisterEvents"}),
                             ("Not Found", {"uuid": "MIG-double"})):
            with self.subTest(why):
                daemon = self.start(**options)
                self.assertIn(why, daemon.log())
                self.assertNotIn("cuzk_gpu_xid_total{", net.http_get(daemon, "/metrics")[1])

    def test_a_library_that_breaks_is_told_once(self):
        daemon = self.start(events="broken,79")
        net.wait_for(lambda: "no longer reports" in daemon.log(), "the end of the reports")
        self.assertEqual(net.metrics(daemon)[SERIES], 0)
        self.assertEqual(net.http_get(daemon, "/healthz")[0], 200)

    def test_a_card_that_fails_its_self_test_is_a_lost_one(self):
        """To who watches: the alert on lost cards fires. The others prove."""
        daemon = self.start(left_out="GPU-broken")
        self.assertIn("card 1 failed its self-test and is not used", daemon.log())
        samples = net.metrics(daemon)
        self.assertEqual(samples['cuzk_gpu_healthy{gpu="1",gpu_uuid="GPU-broken"}'], 0)
        self.assertEqual(samples['cuzk_gpu_healthy{gpu="0",gpu_uuid="GPU-double"}'], 1)

    def test_the_processor_has_none(self):
        daemon = net.FaultyDaemon(environment={"LD_LIBRARY_PATH": str(DOUBLES)})
        self.addCleanup(daemon.close)
        self.assertNotIn("cuzk_gpu_xid_total{", net.http_get(daemon, "/metrics")[1])
        self.assertNotIn("Xid", daemon.log())


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    DOUBLES = sys.argv[4]
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
