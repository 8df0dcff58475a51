#!/usr/bin/env python3
"""The live page of a busy day: 33 jobs on three cards, with an hour of history, from a daemon that is not there (dense.py).
What is seen without scrolling, in which order, in which words, on a desktop, a wide screen and a phone.

Usage: dense_test.py BIN VECTORS PARAMETERS [--screenshots FOLDER]
"""

import json
import pathlib
import sys
import unittest
import urllib.request

import daemon_fixture as fixture
import dense
from browser import Browser
from daemon_fixture import Daemon
from page_test import CONTRAST

SCREENSHOTS = None


def shoot(page, name):
    if SCREENSHOTS:
        page.screenshot(SCREENSHOTS / f"dense-{name}.png")


def fetch(url):
    with urllib.request.urlopen(url) as answer:
        return answer.read(), answer.headers


def shape_of(value):
    """The names of members, of objects of any depth; of an array, those of its first item."""
    if isinstance(value, dict):
        return {name: shape_of(member) for name, member in value.items()}
    return [shape_of(value[0])] if isinstance(value, list) and value else None


class DensePage(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.addClassCleanup(cls.daemon.close)
        cls.real = f"http://127.0.0.1:{cls.daemon.http_port()}/"
        page, headers = fetch(cls.real)
        cls.server = dense.Server(page, headers["Content-Security-Policy"])
        cls.addClassCleanup(cls.server.close)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)
        cls.page = cls.browser.open(cls.server.url)

    def setUp(self):
        self.server.change = lambda path, answer: answer
        self.page.complaints.clear()
        self.page.size(1440, 900)
        self.page.go(self.server.url)
        self.page.wait("state.status !== null && state.history !== null && document.querySelectorAll('.block').length > 9")

    def tearDown(self):
        self.assertEqual(self.page.complaints, [], "the page complains")

    def rows(self):
        return self.page.evaluate("[...document.querySelectorAll('#job-list tr')].map((row) => row.innerText)")

    def test_what_is_made_up_has_the_shape_of_the_real_answers(self):
        for path in ("status", "timeline", "history"):
            real, made = json.loads(fetch(self.real + path)[0]), getattr(dense, path)()
            self.assertEqual(set(real), set(made), path)
        real, made = json.loads(fetch(self.real + "status")[0]), dense.status()
        for name in ("memory", "synthesis", "counters", "buffers"):
            self.assertEqual(set(real[name]), set(made[name]), name)
        self.assertEqual(set(real["devices"][0]), set(made["devices"][0]))
        self.assertEqual(set(real["gpu_workers"][0]), set(made["gpu_workers"][0]))
        day, made = json.loads(fetch(self.real + "history")[0])["day"], dense.history()["day"]
        self.assertEqual(set(day), set(made))
        self.assertEqual(set(day["proofs"]), set(made["proofs"]))
        self.assertEqual(len(day["waiting"]), dense.SLOTS)

    def test_what_matters_is_seen_without_scrolling(self):
        page = self.page
        shoot(page, "desktop")
        for name in ("jobs", "timeline", "devices-title", "errors-title"):
            bottom = page.evaluate(f"document.getElementById('{name}').closest('section').getBoundingClientRect().bottom")
            self.assertLessEqual(bottom, 900, name)
        # The row of those that wait, too, inside its list.
        self.assertTrue(page.evaluate("(() => { const row = document.querySelector('.waiting-row').getBoundingClientRect(),"
                                      " list = document.querySelector('#jobs .scroll').getBoundingClientRect();"
                                      " return row.bottom <= list.bottom; })()"))
        self.assertEqual(page.evaluate(CONTRAST), [])

    def test_jobs_are_in_the_order_of_proving_and_those_that_wait_collapse(self):
        page = self.page
        rows = self.rows()
        self.assertEqual(len(rows), 8)
        for row, words in zip(rows, (("winning", "critical", "on a device", "in 14 s"), ("window", "in 25 min"), ("porep", "83"),
                                     ("in synthesis",), ("snap", "waiting for a device"), ("loading parameters",),
                                     ("27 waiting", "14 porep"), ("cancelled",))):
            for word in words:
                self.assertIn(word, row)
        button = "document.querySelector('.waiting-row button')"
        self.assertEqual(page.evaluate(f"{button}.getAttribute('aria-expanded')"), "false")
        page.evaluate(f"{button}.focus()")
        page.key("Enter")
        page.wait("document.querySelectorAll('#job-list tr').length === 35")
        self.assertEqual(page.evaluate("document.activeElement.textContent"), "27 waiting")
        places = page.evaluate("[...document.querySelectorAll('#job-list .place')].map((e) => e.textContent).filter((t) => t)")
        self.assertEqual(places, [str(i + 1) for i in range(27)])
        shoot(page, "open")
        page.key("Enter")
        page.wait("document.querySelectorAll('#job-list tr').length === 8")

    def test_a_kind_can_be_chosen(self):
        page = self.page
        page.evaluate("document.querySelector('[name=kind][value=snap]').click()")
        page.wait("document.querySelectorAll('#job-list tr').length === 3")
        self.assertIn("7 waiting", self.rows()[1])
        kinds = page.evaluate("[...new Set([...document.querySelectorAll('#recent-list .kind')].map((e) => e.textContent))]")
        self.assertEqual(kinds, ["snap"])

    def test_a_cancelled_job_is_not_a_failed_one(self):
        row = "document.querySelector('#job-list tr.cancelled')"
        self.assertIn("cancelled", self.page.evaluate(f"{row}.innerText"))
        colour = "getComputedStyle({}).color"
        bad = self.page.evaluate(colour.format("document.querySelector('#failed-list .failed .stage')"))
        self.assertNotEqual(self.page.evaluate(colour.format(f"{row}.querySelector('.stage')")), bad)
        self.assertEqual(self.page.evaluate("document.querySelectorAll('#failed-list tr.cancelled').length"), 0)
        self.assertEqual(self.page.evaluate("document.querySelectorAll('#recent-list tr.cancelled').length"), 1)

    def test_failed_jobs_say_why_and_where(self):
        text = self.page.evaluate("document.getElementById('failed-list').innerText")
        self.assertIn("failed in synthesis", text)
        self.assertIn(dense.FAILURE, text)
        self.assertIn("on a device 30 s", self.page.evaluate("document.getElementById('recent-list').innerText"))

    def test_devices_show_what_the_driver_tells_and_nothing_else(self):
        devices = self.page.evaluate("[...document.querySelectorAll('#device-list > li')].map((e) => e.innerText)")
        self.assertEqual(len(devices), 3)
        self.assertIn("61 °C, 512 of 700 W, 1980 MHz", devices[0])
        self.assertIn("gen 5 ×16, 12 GiB/s in", devices[0])
        self.assertIn("63 °C, 552 W", devices[2])
        self.assertNotIn("gen", devices[2])
        self.assertNotIn("null", " ".join(devices))
        labels = self.page.evaluate("[...document.querySelectorAll('canvas')].map((e) => e.getAttribute('aria-label'))")
        self.assertEqual(len(labels), 7)
        for label in labels:
            self.assertRegex(label, ": now .*, at most ")

    def test_a_bar_under_way_shows_its_stages(self):
        running = "document.querySelector('.lane[aria-label=\"device 0 worker 0\"] .block.running')"
        self.page.wait(f"{running} !== null && {running}.querySelectorAll('.seg').length > 1")
        self.assertIn("stages as in the partition before: h2d", self.page.evaluate(f"{running}.getAttribute('aria-label')"))

    def test_host_and_state_are_named_and_a_paused_page_says_so(self):
        page = self.page
        self.assertEqual(page.evaluate("document.title"), "6 running · prover-07 · cuzkd")
        self.assertIn("prover-07", page.evaluate("document.querySelector('h1').textContent"))
        page.evaluate("document.getElementById('pause').click()")
        self.assertFalse(page.evaluate("document.getElementById('paused').hidden"))
        self.assertIn("This page is paused", page.evaluate("document.getElementById('paused').innerText"))
        self.assertEqual(page.evaluate("document.getElementById('state').textContent"), "Paused")
        self.assertIn("paused", page.evaluate("document.title"))
        self.assertEqual(page.evaluate(CONTRAST), [])
        page.evaluate("document.getElementById('pause').click()")
        self.assertTrue(page.evaluate("document.getElementById('paused').hidden"))
        self.assertEqual(page.evaluate("document.getElementById('state').textContent"), "Serving")

    def test_what_is_wrong_points_to_its_section_of_the_handbook(self):
        page = self.page
        self.server.change = lambda path, answer: answer if path != "/status" else answer | {
            "ready": False, "not_ready_reason": "the daemon is draining", "job_store_wait_secs": 12.5,
            "devices": [device | {"healthy": False, "lost_reason": "Xid 79"} for device in answer["devices"][:1]]
                       + answer["devices"][1:]}
        page.wait("document.getElementById('troubles').children.length > 3")
        links = page.evaluate("[...document.querySelectorAll('#troubles a')].map((a) => a.getAttribute('href'))")
        handbook = fetch(self.real + "troubleshooting")[0].decode()
        for name in ("cuzkdnotready", "cuzkdgpulost", "cuzkdjobstorehangs", "cuzkdwinningpostslow"):
            self.assertIn(f"troubleshooting#{name}", links)
            self.assertIn(f'id="{name}"', handbook)
        self.assertEqual(page.evaluate(CONTRAST), [])
        # Every section that the page may point to is there.
        for name in page.evaluate("[...troublesOf.toString().matchAll(/'(Cuzkd[A-Za-z]+)'/g)].map((m) => m[1].toLowerCase())"):
            self.assertIn(f'id="{name}"', handbook)
        shoot(page, "troubles")

    def test_wide_screens_are_used_and_phones_are_fit(self):
        page = self.page
        for scheme in ("light", "dark"):
            page.prefer(prefers_color_scheme=scheme)
            for width, height in ((2560, 1300), (1440, 900), (1024, 768), (360, 740)):
                with self.subTest(scheme=scheme, width=width):
                    page.size(width, height, mobile=width < 500)
                    page.wait(f"innerWidth === {width}")
                    self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
                    self.assertEqual(page.evaluate(CONTRAST), [])
                    shoot(page, f"{scheme}-{width}")
        page.size(2560, 1300)
        page.wait("innerWidth === 2560")
        lefts = page.evaluate("['jobs', 'timeline', 'side'].map((id) => document.getElementById(id).getBoundingClientRect().left)")
        self.assertEqual(len(set(lefts)), 3)
        self.assertGreater(page.evaluate("document.getElementById('side').getBoundingClientRect().right"), 2500)
        page.prefer(prefers_color_scheme="light")

    def test_the_keyboard_reaches_every_list(self):
        page, seen = self.page, set()
        page.evaluate("document.querySelector('.skip').focus()")
        for _ in range(40):
            page.key("Tab")
            seen.add(page.evaluate("document.activeElement.getAttribute('aria-label') || document.activeElement.name"
                                   " || document.activeElement.textContent"))
        for name in ("Pause", "kind", "27 waiting", "window", "Last errors", "Failed jobs, the latest first",
                     "Ended jobs, the latest first", "Troubleshooting"):
            self.assertIn(name, seen)
        nodes = page.call("Accessibility.getFullAXTree")["nodes"]
        nameless = [node for node in nodes
                    if node.get("role", {}).get("value") in ("button", "link", "radio", "progressbar", "img", "region")
                    and not node.get("ignored") and not node.get("name", {}).get("value")]
        self.assertEqual(nameless, [])


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    rest = sys.argv[4:]
    if rest[:1] == ["--screenshots"]:
        SCREENSHOTS, rest = pathlib.Path(rest[1]), rest[2:]
        SCREENSHOTS.mkdir(exist_ok=True)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
