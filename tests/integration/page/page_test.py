#!/usr/bin/env python3
"""The live page in a browser while real proofs run: what it shows, what it must not do, on a phone, from the keyboard, and
when the daemon goes.

Usage: page_test.py BIN VECTORS PARAMETERS [--screenshots FOLDER]
"""

import http.client
import json
import pathlib
import socket
import sys
import unittest
import urllib.request

import daemon_fixture as fixture
from daemon_fixture import Daemon, requests
from browser import Browser

SCREENSHOTS = None
# A request id is any text that a client sends.
HOSTILE = ('"><script>document.title="owned"</script><img src=x onerror=\'document.title="owned"\'>'
           "</script><svg onload=alert(1)> {{page.js}} \u202eevil wdpost-1000-0-[18 52 86 1 2 3 4 5]")
# Characters that would turn the text around are shown by their numbers.
SHOWN = HOSTILE.replace("\u202e", "\\u{202e}")
CONTRAST = """(() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => { const f = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
  const back = (node) => { for (; node; node = node.parentElement) { const c = parse(getComputedStyle(node).backgroundColor);
    if (c.length < 4 || c[3] === 1) return c; } return [255, 255, 255]; };
  const poor = [];
  for (const node of document.querySelectorAll('body *')) {
    const own = [...node.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || !node.checkVisibility() || node.closest('.block, script, noscript, .skip, .hidden-text')) continue;
    const [a, b] = [light(parse(getComputedStyle(node).color)), light(back(node))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) poor.push(`${node.tagName} ${node.className} "${node.textContent.slice(0, 20)}" ${ratio.toFixed(2)}`);
  }
  return poor; })()"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def shoot(page, name):
    if SCREENSHOTS:
        page.screenshot(SCREENSHOTS / f"{name}.png")


class LivePage(fixture.DaemonTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.url = f"http://127.0.0.1:{cls.daemon.http_port()}/"
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)
        cls.page = cls.browser.open()
        cls.page.size(1280, 900)
        cls.page.go(cls.url)

    def setUp(self):
        super().setUp()
        self.page.complaints.clear()

    def tearDown(self):
        self.assertEqual(self.page.complaints, [], "the page complains")

    def submit(self, kind, name, number=0):
        answer = self.daemon.control("submit", "--request", requests(kind)[number], "--id", name)
        self.assertEqual(answer.code, 0, answer)

    def tile(self, name):
        return (f"[...document.querySelectorAll('.tile')].find((t) => t.firstChild.textContent === '{name}')"
                ".querySelector('dd > span').textContent.trim()")

    def test_1_proofs_are_seen_from_begin_to_end(self):
        page = self.page
        page.wait("document.getElementById('state').textContent === 'Serving'")
        self.submit("porep", "porep-1000-1")
        self.submit("winning", HOSTILE)
        jobs = page.wait("(() => { const jobs = [...document.querySelectorAll('#job-list .job-id')].map((e) => e.textContent);"
                         " return jobs.length > 1 && jobs; })()")
        self.assertIn(SHOWN, jobs)
        self.assertIn("porep-1000-1", jobs)
        # A worker is on it: a bar that grows, the device counted as busy, its partition in the list of workers.
        page.wait("document.querySelector('.lane[aria-label^=\"device 0 worker\"] .block.running') !== null")
        page.wait("document.getElementById('device-list').innerText.includes('partition 0 of')")
        shoot(page, "running")
        self.assertEqual(self.daemon.control("await", "porep-1000-1").code, 0)
        self.assertEqual(self.daemon.control("await", HOSTILE).code, 0)
        page.wait(f"{self.tile('Completed')} === '2'")
        page.wait(f"{self.tile('Running')} === '0'")
        page.wait("document.querySelector('#job-list .completed .cell.done') !== null")
        # What the workers did is on their lanes, stage by stage, and says of which job it was.
        spoken = page.wait("(() => { const labels = [...document.querySelectorAll('.lane[aria-label^=\"device 0\"] .block')]"
                           ".map((b) => b.getAttribute('aria-label'));"
                           " return labels.filter((l) => l.includes('msm h')).length > 1 && labels; })()")
        self.assertTrue(any("partition 0 of porep-1000-1" in text for text in spoken), spoken)
        lanes = page.evaluate("[...document.querySelectorAll('.lane')].map((l) => l.getAttribute('aria-label'))")
        for lane in ("synthesis 0", "finisher", "loader 0"):
            self.assertIn(lane, lanes)
        self.assertNotEqual(page.evaluate(self.tile("Devices busy")), "0 %")
        parameters = page.evaluate("document.getElementById('parameter-list').innerText")
        self.assertIn("porep-2k", parameters)
        self.assertIn("development", parameters)
        self.assertIn("parameters", page.evaluate("document.getElementById('memory').innerText"))
        shoot(page, "done")

    def test_1_what_went_wrong_is_seen(self):
        request = self.copy_of(requests("winning")[0])
        sector = request / json.loads((request / "request.json").read_text())["sectors"][0]["file"]
        spoilt = bytearray(sector.read_bytes())
        spoilt[-40] ^= 1
        sector.write_bytes(spoilt)
        answer = self.daemon.control("prove", "--request", request, "--id", f"spoilt {HOSTILE}")
        self.assertEqual(answer.code, 6, answer)
        errors = self.page.wait("document.getElementById('error-list').textContent")
        self.assertIn(f"spoilt {SHOWN}: ", errors)
        self.page.wait("document.querySelector('#job-list .failed .message') !== null")
        self.page.wait(f"{self.tile('Failed')} === '1'")

    def test_2_text_from_clients_stays_text(self):
        page = self.page
        page.wait("document.body.textContent.includes('onerror=')")
        self.assertEqual(page.evaluate("document.querySelectorAll('script').length"), 1)
        self.assertEqual(page.evaluate("document.querySelectorAll('img, svg, iframe, object').length"), 0)
        self.assertNotIn("owned", page.evaluate("document.title"))
        # What would run it does not: the policy refuses even what the page itself is made to insert.
        page.evaluate("""new Promise((done) => { const script = document.createElement('script');
          script.textContent = 'document.title = "owned"'; document.body.append(script); script.remove();
          const image = document.createElement('img'); image.setAttribute('onerror', 'document.title = "owned"');
          image.src = 'data:text/plain,x'; document.body.append(image);
          setTimeout(() => { image.remove(); done(); }, 300); })""")
        self.assertNotIn("owned", page.evaluate("document.title"))
        refused = [text for text in page.complaints if "Content Security Policy" in text]
        self.assertGreaterEqual(len(refused), 2, page.complaints)
        page.complaints.clear()

    def test_3_nobody_else_is_asked_and_nobody_else_may_read(self):
        asked = self.page.evaluate("performance.getEntriesByType('resource').map((entry) => entry.name)")
        self.assertTrue(asked)
        for name in asked:
            self.assertTrue(name.startswith(self.url), name)
        connection = http.client.HTTPConnection("127.0.0.1", self.daemon.http_port())
        self.addCleanup(connection.close)
        connection.request("GET", "/status", headers={"Origin": "http://evil.example"})
        answer = connection.getresponse()
        answer.read()
        self.assertIsNone(answer.getheader("Access-Control-Allow-Origin"))
        connection.request("GET", "/status", headers={"Host": "evil.example"})
        self.assertEqual(connection.getresponse().status, 403)

    def test_4_it_fits_a_phone_in_both_colours(self):
        page = self.page
        self.submit("winning", "x" * 300)
        page.wait("[...document.querySelectorAll('#job-list .job-id')].some((e) => e.textContent.startsWith('xxx'))")
        for scheme in ("light", "dark"):
            for width in (360, 1280):
                with self.subTest(scheme=scheme, width=width):
                    page.prefer(prefers_color_scheme=scheme)
                    page.size(width, 740, mobile=width < 500)
                    page.wait(f"innerWidth === {width}")
                    self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
                    self.assertEqual(page.evaluate(CONTRAST), [])
                    shoot(page, f"{scheme}-{width}")
        page.size(360, 740, mobile=True)
        small = page.evaluate("[...document.querySelectorAll('button:not(.block), label, footer a')]"
                              ".filter((e) => e.getBoundingClientRect().height < 20).map((e) => e.textContent)")
        self.assertEqual(small, [])
        page.size(1280, 900)
        page.prefer(prefers_color_scheme="light")
        self.assertEqual(self.daemon.control("await", "x" * 300).code, 0)

    def test_5_the_keyboard_is_enough(self):
        page = self.page
        page.go(self.url)
        page.wait("document.querySelectorAll('.block').length > 0")
        focused = "document.activeElement"
        page.key("Tab")
        self.assertEqual(page.evaluate(f"{focused}.className"), "skip")
        page.key("Enter")
        self.assertEqual(page.evaluate(f"{focused}.id"), "jobs")
        page.evaluate("document.getElementById('pause').focus()")
        page.key(" ")
        self.assertEqual(page.evaluate("document.getElementById('pause').getAttribute('aria-pressed')"), "true")
        page.key(" ")
        # On to the window, then into the lanes: one stop each, arrows inside.
        seen = []
        for _ in range(12):
            page.key("Tab")
            seen.append(page.evaluate(f"{focused}.name || {focused}.className"))
            if "block" in seen[-1]:
                break
        self.assertIn("window", seen)
        self.assertIn("block", seen[-1])
        first = page.evaluate("document.getElementById('detail').textContent")
        self.assertRegex(first, "^(device|synthesis) 0")
        page.key("ArrowDown")
        self.assertNotEqual(page.evaluate("document.getElementById('detail').textContent"), first)
        # The focus stays where it is while the page goes on.
        lane = page.evaluate(f"{focused}.closest('.lane').getAttribute('aria-label')")
        drawn = page.evaluate("state.status.uptime_secs")
        page.wait(f"state.status.uptime_secs > {drawn} + 2")
        self.assertEqual(page.evaluate(f"{focused}.closest('.lane')?.getAttribute('aria-label')"), lane)
        nodes = page.call("Accessibility.getFullAXTree")["nodes"]
        nameless = [node for node in nodes if node.get("role", {}).get("value") in ("button", "link", "radio", "progressbar")
                    and not node.get("ignored") and not node.get("name", {}).get("value")]
        self.assertEqual(nameless, [])

    def test_6_the_trace_is_one_click_away(self):
        link = self.page.evaluate("document.querySelector('a[download]').href")
        with urllib.request.urlopen(link) as answer:
            self.assertIn("attachment", answer.headers["Content-Disposition"])
            trace = json.load(answer)
        names = {event["args"]["name"] for event in trace["traceEvents"] if event["ph"] == "M"}
        self.assertIn("finisher", names)
        jobs = {event["args"]["job"] for event in trace["traceEvents"] if event["ph"] == "X" and "args" in event}
        self.assertIn(HOSTILE, jobs)
        for event in trace["traceEvents"]:
            if event["ph"] == "X":
                self.assertGreaterEqual(event["dur"], 0)


class Gone(unittest.TestCase):

    def test_a_daemon_that_is_gone_is_seen_and_one_that_is_back_too(self):
        listen = ("--http.listen", f"127.0.0.1:{free_port()}")
        browser = Browser()
        self.addCleanup(browser.close)
        daemon = Daemon(*listen)
        self.addCleanup(daemon.close)
        page = browser.open(f"http://{listen[1]}/")
        page.size(360, 740, mobile=True)
        page.wait("document.getElementById('state').textContent === 'Serving'")
        self.assertTrue(page.evaluate("document.getElementById('gone').hidden"))
        daemon.kill()
        page.wait("!document.getElementById('gone').hidden")
        self.assertIn("has not answered since", page.evaluate("document.getElementById('gone').innerText"))
        self.assertEqual(page.evaluate("document.getElementById('state').textContent"), "No answer")
        self.assertIn("no answer", page.evaluate("document.title"))
        self.assertLess(float(page.evaluate("getComputedStyle(document.querySelector('main')).opacity")), 0.6)
        self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 360)
        shoot(page, "gone")
        back = Daemon(*listen)
        self.addCleanup(back.close)
        page.wait("document.getElementById('gone').hidden && document.getElementById('state').textContent === 'Serving'")


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    rest = sys.argv[4:]
    if rest[:1] == ["--screenshots"]:
        SCREENSHOTS, rest = pathlib.Path(rest[1]), rest[2:]
        SCREENSHOTS.mkdir(exist_ok=True)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
