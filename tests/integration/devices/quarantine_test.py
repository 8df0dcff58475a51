#!/usr/bin/env python3
"""Cards that are faulty and not lost: each cause takes a card out, which is told everywhere, the other card does the
work, and an operator brings it back after a self-test. The cards are made up (tests/doubles/scripted_cards.h).

Usage: quarantine_test.py BIN VECTORS PARAMETERS DOUBLES
"""

import json
import sys
import unittest

import daemon_fixture as fixture
import net_fixture as net
from daemon_fixture import requests

DOUBLES = None


class Quarantine(unittest.TestCase):

    def start(self, *flags, says="cards ok ok", events=""):
        folder = net.folder_for(self)
        self.script = folder / "script"
        self.script.write_text(says)
        daemon = net.FaultyDaemon("--devices.use", "gpu", *flags, environment={
            "FAULTY_CUZKD_SCRIPT": str(self.script), "LD_LIBRARY_PATH": str(DOUBLES), "NVML_DOUBLE_EVENTS": events})
        self.addCleanup(daemon.close)
        self.daemon, self.jobs = daemon, 0
        return daemon

    def prove(self):
        self.jobs += 1
        answer = self.daemon.control("prove", "--request", requests("winning")[0], "--id", f"job {self.jobs}")
        self.assertEqual(answer.code, 0, self.daemon.log())

    def prove_until(self, condition, what):
        """Which card a job goes to is not the test's to say."""
        for _ in range(200):
            if condition():
                return
            self.prove()
        self.fail(f"in vain: {what}")

    def metric(self, name, card):
        return net.metrics(self.daemon)[f'cuzk_gpu_{name}{{gpu="{card}",gpu_uuid="GPU-double-{card}"}}']

    def device(self, card):
        listed = self.daemon.control("--json", "device", "list").json()["devices"]
        return next(device for device in listed if device["uuid"] == f"GPU-double-{card}")

    def expect_out(self, card, reason):
        """The card is out, for that reason, and it can be seen everywhere."""
        device = self.device(card)
        self.assertEqual(device["state"], "quarantined", device)
        self.assertIn(reason, device["reason"])
        self.assertRegex(self.daemon.log(), rf"device {card} \(.*GPU-double-{card}\) is taken out of service: .*{reason}")
        table = self.daemon.control("device", "list").out
        self.assertIn("quarantined", table)
        status = json.loads(net.http_get(self.daemon, "/status")[1])["devices"][card]
        self.assertEqual(status["service"], "quarantined")
        self.assertIn(reason, status["service_reason"])
        samples = net.metrics(self.daemon)
        self.assertEqual([samples["cuzk_devices_usable"], samples["cuzk_device_quarantines_total"]], [1, 1])
        self.assertEqual([self.metric("quarantined", card), self.metric("quarantined", 1 - card)], [1, 0])
        self.assertEqual(net.http_get(self.daemon, "/readyz")[0], 200)

    def expect_work_elsewhere(self, card):
        before, other = self.device(card)["partitions"], self.device(1 - card)["partitions"]
        for _ in range(2):
            self.prove()
        self.assertEqual(self.device(card)["partitions"], before)
        self.assertEqual(self.device(1 - card)["partitions"], other + 2)

    def bring_back(self, card):
        answer = self.daemon.control("--json", "device", "enable", f"GPU-double-{card}")
        self.assertEqual(answer.code, 0, answer)
        self.assertEqual(answer.json()["state"], "works")
        self.assertEqual(net.metrics(self.daemon)["cuzk_devices_usable"], 2)
        before = self.device(card)["partitions"]
        self.assertEqual(self.daemon.control("device", "disable", str(1 - card)).code, 0)
        self.prove()
        self.assertEqual(self.device(card)["partitions"], before + 1)

    def test_wrong_proofs(self):
        daemon = self.start()
        daemon.tell("card 0 wrong 1000")
        self.prove_until(lambda: self.device(0)["state"] != "works", "the end of the card")
        self.expect_out(0, "2 of its proofs were wrong")
        daemon.tell("card 0 wrong 0")
        self.expect_work_elsewhere(0)

    def test_errors_in_a_row_and_the_way_back(self):
        daemon = self.start("--devices.quarantine_errors", "2")
        daemon.tell("card 0 fail 2")
        self.prove_until(lambda: self.device(0)["state"] != "works", "the end of the card")
        self.expect_out(0, "2 errors in a row, the last: the device failed")
        self.expect_work_elsewhere(0)
        # A card that fails its self-test stays out.
        self.script.write_text("cards wrong ok")
        answer = daemon.control("device", "enable", "GPU-double-0")
        self.assertEqual(answer.code, 6, answer)
        self.assertIn("the self-test: the proof of a circuit of 1000 rows is wrong", answer.err)
        self.expect_out(0, "2 errors in a row")
        self.script.write_text("cards ok ok")
        self.bring_back(0)

    def test_a_card_that_hangs_alone(self):
        daemon = self.start("--devices.quarantine_stall", "15s")
        self.prove()  # both may have the parameters now
        for card in (0, 1):
            daemon.tell(f"card {card} hang")
        self.assertEqual(daemon.control("submit", "--request", requests("winning")[0], "--id", "hangs").code, 0)
        card = net.wait_for(lambda: [card for card in (0, 1) if daemon.tell(f"card {card} waiting") != "0"],
                            "the partition inside a card")[0]
        daemon.tell(f"card {1 - card} release")
        self.assertEqual(daemon.control("await", "hangs").code, 0, daemon.log())
        self.expect_out(card, "no progress for 15 s while others make progress")
        self.prove()
        # The partition that was taken back is still inside: no test is possible.
        answer = daemon.control("device", "enable", f"GPU-double-{card}")
        self.assertEqual(answer.code, 6, answer)
        self.assertIn("has not given back a partition", answer.err)
        daemon.tell(f"card {card} release")
        net.wait_for(lambda: daemon.control("device", "enable", f"GPU-double-{card}").code == 0, "the way back")

    def test_an_error_of_the_driver_that_needs_a_reset(self):
        self.start(events="1:63,1:31,1:79")
        net.wait_for(lambda: self.device(1)["state"] != "works", "the end of the card")
        self.expect_out(1, "Xid 79, the card has fallen off the bus")
        self.expect_work_elsewhere(1)
        self.bring_back(1)

    def test_errors_of_programs_and_warnings_change_nothing(self):
        self.start(events="1:63,1:31,1:4711")
        net.wait_for(lambda: self.metric("xid_total", 1) == 3, "the errors")
        self.assertEqual(self.device(1)["state"], "works")

    def test_the_last_card_goes_on_and_is_told(self):
        daemon = self.start(says="cards ok", events="0:79")
        net.wait_for(lambda: self.device(0)["state"] == "doubted", "the doubt")
        self.assertEqual([self.metric("doubted", 0), self.metric("quarantined", 0)], [1, 0])
        self.assertIn("it stays in service, because no other device works", daemon.log())
        self.prove()
        answer = daemon.control("device", "disable", "0")
        self.assertEqual(answer.code, 6, answer)
        self.assertIn("the last device that works", answer.err)

    def test_it_can_be_turned_off(self):
        daemon = self.start("--devices.quarantine", "false", events="1:79")
        daemon.tell("card 0 fail 3")
        self.prove_until(lambda: net.metrics(daemon)["cuzk_device_errors_total"] == 3, "three errors")
        net.wait_for(lambda: self.metric("xid_total", 1) == 1, "the error")
        self.assertEqual([self.device(card)["state"] for card in (0, 1)], ["works", "works"])

    def test_a_device_that_is_not_there(self):
        answer = self.start().control("device", "enable", "GPU-none")
        self.assertEqual(answer.code, 6, answer)
        self.assertIn("there is no device GPU-none; there are 0 (GPU-double-0), 1 (GPU-double-1)", answer.err)


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    DOUBLES = sys.argv[4]
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
