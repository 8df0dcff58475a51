#!/usr/bin/env python3
"""Cards that come late, fail or are lost: what the daemon does, says, exits with and shows to those who watch it. The
cards are made up (tests/doubles/scripted_cards.h).

Usage: cards_test.py BIN VECTORS PARAMETERS
"""

import signal
import sys
import unittest
import urllib.error

import daemon_fixture as fixture
import net_fixture as net
from daemon_fixture import requests, run

CPU_CURE = 'set devices.use = "cpu" to prove without a card'


class CardsDaemon(net.FaultyDaemon):

    def __init__(self, *flags, http=None, **options):
        self.http = http or net.free_port()
        super().__init__("--http.listen", f"127.0.0.1:{self.http}", *flags, **options)

    def http_port(self):
        return self.http

    def get(self, path):
        """None while nothing listens."""
        try:
            return net.http_get(self, path)
        except urllib.error.URLError:
            return None


class Cards(unittest.TestCase):

    def setUp(self):
        self.folder = net.folder_for(self)
        self.script = self.folder / "script"
        self.pci = self.folder / "pci"
        self.pci.mkdir()

    def add_to_bus(self, address, vendor="0x10de", kind="0x030200", driver=None):
        device = self.pci / address
        device.mkdir()
        (device / "vendor").write_text(f"{vendor}\n")
        (device / "class").write_text(f"{kind}\n")
        if driver:
            (device / "driver").symlink_to(f"../../bus/pci/drivers/{driver}")

    def variables(self):
        return {"FAULTY_CUZKD_SCRIPT": str(self.script), "FAULTY_CUZKD_PCI": str(self.pci)}

    def start(self, says, *flags, use="auto", wait=True, environment=None):
        self.script.write_text(says)
        daemon = CardsDaemon("--devices.use", use, *flags, wait=wait, environment={**self.variables(), **(environment or {})})
        self.addCleanup(daemon.close)
        return daemon

    def prove(self, daemon, name="one"):
        self.assertEqual(daemon.control("prove", "--request", requests("winning")[0], "--id", name).code, 0, daemon.log())


class AtTheStart(Cards):

    def test_a_driver_that_cannot_be_used_ends_the_start_with_its_number_and_the_cure(self):
        self.add_to_bus("0000:3b:00.0")
        for says, words in (("3", "uvm_disable_hmm=1"), ("cards 46", "--gpu-reset"), ("100", "CUDA_VISIBLE_DEVICES"),
                            ("803", "reboot"), ("999", "modprobe nvidia_uvm"), ("", "libcuda.so.1 is not there")):
            for use in ("auto", "gpu"):
                with self.subTest(says=says, use=use):
                    daemon = self.start(says, "--devices.wait", "0s", use=use, wait=False)
                    self.assertEqual(daemon.process.wait(timeout=600), 69, daemon.log())
                    last = daemon.log().splitlines()[-1]
                    self.assertIn(f'devices.use = "{use}": this machine has 1 NVIDIA card (0000:3b:00.0)', last)
                    self.assertIn(words, last)
                    self.assertEqual(CPU_CURE in last, use == "auto", last)
                    if says.isdigit():
                        self.assertIn(f"cuInit: {says} (", last)

    def test_the_end_of_the_wait_is_the_end_of_the_start(self):
        self.add_to_bus("0000:3b:00.0")
        daemon = self.start("802", "--devices.wait", "1s", wait=False)
        self.assertEqual(daemon.process.wait(timeout=600), 69, daemon.log())
        self.assertIn("waited 1 s (devices.wait): ", daemon.log().splitlines()[-1])

    def test_without_a_card_the_cpu_proves_and_those_who_watch_hear_it(self):
        self.add_to_bus("0000:00:1f.0", vendor="0x8086", kind="0x030000")  # another maker's
        self.add_to_bus("0000:3b:00.1", kind="0x040300")                    # the sound of a card
        self.add_to_bus("0000:3b:00.0", driver="vfio-pci")                  # a virtual machine has it
        daemon = self.start("100")
        self.assertIn("proving on the CPU device", daemon.log())
        samples = net.metrics(daemon)
        self.assertEqual([samples[f"cuzk_{name}"] for name in
                          ("device_fallback_to_cpu", "devices_usable", "devices_present", "ready")], [1, 1, 0, 1])
        self.prove(daemon)

    def test_a_cpu_that_was_asked_for_is_no_fallback(self):
        self.add_to_bus("0000:3b:00.0")
        samples = net.metrics(self.start("803", use="cpu"))
        self.assertEqual([samples[f"cuzk_{name}"] for name in
                          ("device_fallback_to_cpu", "devices_usable", "devices_present")], [0, 1, 1])

    def test_a_driver_that_comes_late_is_waited_for(self):
        systemd = net.Systemd(self.folder)
        self.addCleanup(systemd.close)
        self.add_to_bus("0000:3b:00.0")
        daemon = self.start("802", "--devices.wait", "1h", wait=False, environment={"NOTIFY_SOCKET": systemd.path})
        code, text = net.wait_for(lambda: daemon.get("/readyz"), "an answer while it waits")
        self.assertEqual(code, 503)
        self.assertIn("cuInit: 802 (SystemNotReady)", text)
        self.assertIn("start nvidia-fabricmanager", text)
        self.assertEqual(daemon.get("/healthz")[0], 200)
        samples = net.metrics(daemon)
        self.assertEqual([samples[f"cuzk_{name}"] for name in
                          ("ready", "devices_usable", "devices_present", "device_fallback_to_cpu")], [0, 0, 1, 0])
        answer = net.wait_for(lambda: daemon.socket.exists() and daemon.control("status"), "the socket")
        self.assertEqual(answer.code, 3, answer)
        self.assertIn("802 (SystemNotReady)", answer.err)
        systemd.wait_for("STATUS=waiting for a card: ")
        systemd.wait_for("EXTEND_TIMEOUT_USEC=")
        self.assertNotIn("READY=1", systemd.receive())
        # Another reason is told in its turn.
        self.script.write_text("999")
        net.wait_for(lambda: "999 (Unknown)" in daemon.get("/readyz")[1], "the other reason")
        self.assertEqual(daemon.log().count("waiting for a card, for at most 3600 s (devices.wait)"), 2, daemon.log())
        self.script.write_text("cards ok")
        systemd.wait_for("READY=1")
        self.assertEqual(daemon.get("/readyz")[0], 200)
        self.assertEqual(net.metrics(daemon)["cuzk_devices_usable"], 1)
        self.prove(daemon)

    def test_sigterm_ends_the_wait(self):
        self.add_to_bus("0000:3b:00.0")
        daemon = self.start("802", "--devices.wait", "1h", wait=False)
        net.wait_for(lambda: daemon.get("/readyz"), "the wait")
        daemon.terminate(signal.SIGTERM)
        self.assertEqual(daemon.process.wait(timeout=600), 0, daemon.log())
        self.assertFalse(daemon.socket.exists())

    def test_one_card_that_fails_leaves_the_others_at_work(self):
        self.add_to_bus("0000:3b:00.0")
        self.add_to_bus("0000:af:00.0")
        for broken, said in (("46", "card 0 cannot be used and is left out: "),
                             ("wrong", "does not pass its self-test and is left out: ")):
            with self.subTest(broken):
                daemon = self.start(f"cards {broken} ok")
                self.assertIn(said, daemon.log())
                samples = net.metrics(daemon)
                self.assertEqual(samples['cuzk_gpu_healthy{gpu="0",gpu_uuid="GPU-double-0"}'], 0)
                self.assertEqual(samples['cuzk_gpu_healthy{gpu="1",gpu_uuid="GPU-double-1"}'], 1)
                self.assertEqual([samples["cuzk_devices_present"], samples["cuzk_devices_usable"]], [2, 1])
                self.prove(daemon, f"on the other card {broken}")

    def test_a_card_whose_memory_others_hold_is_not_judged(self):
        self.add_to_bus("0000:3b:00.0")
        self.assertEqual(net.metrics(self.start("cards full"))["cuzk_devices_usable"], 1)

    def test_check_config_tells_what_the_start_would_find(self):
        self.add_to_bus("0000:3b:00.0")
        self.script.write_text("803")

        def notes(use):
            answer = run(fixture.BIN / "cuzk_faulty_daemon", "--check-config", "--devices.use", use,
                         environment=self.variables())
            self.assertEqual(answer.code, 0, answer)
            return answer.err

        for use in ("auto", "gpu"):
            self.assertRegex(notes(use), rf'devices.use = "{use}": this machine has 1 NVIDIA card \(0000:3b:00.0\), and '
                                         r"none can be used, so the daemon will not start: cuInit: 803 ")
        self.assertNotIn("devices.use", notes("cpu"))
        self.script.write_text("cards ok")
        self.assertNotIn("devices.use", notes("auto"))


class AtWork(Cards):

    def test_a_card_that_is_lost_in_flight_leaves_its_work_to_the_other(self):
        self.add_to_bus("0000:3b:00.0")
        self.add_to_bus("0000:af:00.0")
        daemon = self.start("cards ok ok")
        for card in (0, 1):
            self.assertEqual(daemon.tell(f"card {card} hold"), "ok")
        self.assertEqual(daemon.control("submit", "--request", requests("winning")[0], "--id", "one").code, 0)
        holder = net.wait_for(lambda: [card for card in ("0", "1") if daemon.tell(f"card {card} waiting") != "0"],
                              "the partition inside a card")[0]
        other = "1" if holder == "0" else "0"
        daemon.tell(f"card {other} release")
        daemon.tell(f"card {holder} lose")
        self.assertEqual(daemon.control("await", "one").code, 0, daemon.log())
        samples = net.metrics(daemon)
        self.assertEqual(samples[f'cuzk_gpu_healthy{{gpu="{holder}",gpu_uuid="GPU-double-{holder}"}}'], 0)
        self.assertEqual(samples[f'cuzk_gpu_healthy{{gpu="{other}",gpu_uuid="GPU-double-{other}"}}'], 1)
        self.assertEqual([samples["cuzk_devices_usable"], samples["cuzk_devices_lost_total"]], [1, 1])
        self.assertEqual(net.http_get(daemon, "/readyz")[0], 200)


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
