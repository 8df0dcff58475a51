#!/usr/bin/env python3
"""The live view of cuzkctl, on a terminal and without one.

Usage: top_test.py BIN VECTORS PARAMETERS
"""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
import unittest

import daemon_fixture as fixture
from daemon_fixture import Daemon, control, requests


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, *command, columns=100, rows=30):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            environment = {**fixture.clean_environment(), "TERM": "xterm"}
            os.execve(str(command[0]), [str(c) for c in command], environment)
        self.resize(columns, rows)
        self.output = ""

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.kill(self.pid, signal.SIGWINCH)

    def read(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([self.fd], [], [], 0.05)[0]:
                try:
                    self.output += os.read(self.fd, 65536).decode(errors="replace")
                except OSError:  # the program has ended
                    return

    def frames(self):
        """Every complete picture: its lines."""
        return [[re.sub(r"\x1b\[\d*m", "", line.rstrip("\r").removesuffix("\x1b[K"))
                 for line in frame.split("\x1b[J")[0].split("\n")]
                for frame in self.output.split("\x1b[H")[1:] if "\x1b[J" in frame]

    def wait_for(self, pattern, seconds=600):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for frame in self.frames():
                if re.search(pattern, "\n".join(frame)):
                    return frame
            self.read(0.2)
        raise AssertionError(f"never saw {pattern}: {self.output[-3000:]!r}")

    def write(self, text):
        os.write(self.fd, text.encode())

    def end(self):
        """The exit code."""
        end = time.monotonic() + 600
        while time.monotonic() < end:
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.01)  # reading waits no more once the terminal is given back
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        raise AssertionError("it does not end")


class Top(fixture.DaemonTest):

    def terminal(self, *flags, **size):
        return Terminal(fixture.BIN / "cuzkctl", "--address", self.daemon.address, "top", "--interval", "200ms", *flags,
                        **size)

    def test_shows_a_job_resizes_and_gives_the_terminal_back(self):
        request = requests("winning")[0]
        screen = self.terminal()
        screen.wait_for("no jobs")
        self.assertIn("\x1b[?1049h", screen.output)
        submitted = self.daemon.control("submit", "--request", request, "--id", "seen-by-top")
        self.assertEqual(submitted.code, 0, submitted)
        frame = screen.wait_for(r"seen-by-top +winning +\S+ .*\d+ %")
        self.assertTrue(any("budget" in line and "GiB" in line for line in frame), frame)
        self.assertTrue(any(line.startswith("device") for line in frame), frame)
        screen.wait_for(r"seen-by-top +winning +completed .*100 %")
        screen.wait_for(r"winning-2k [\d.]+ [GM]iB (idle|in use)")
        screen.resize(40, 8)
        screen.output = ""

        def fits():
            """Of every picture, whether it fits: those that were under way do not, the first that does ends them."""
            return [len(frame) <= 8 and all(len(line) <= 40 for line in frame) for frame in screen.frames()]

        end = time.monotonic() + 600
        while sum(fits()) < 3 and time.monotonic() < end:
            screen.read(0.2)
        self.assertTrue(all(fits()[fits().index(True):]), screen.frames())
        self.assertGreaterEqual(sum(fits()), 3)
        screen.write("q")
        self.assertEqual(screen.end(), 0)
        self.assertTrue(screen.output.rstrip().endswith("\x1b[?1049l"), screen.output[-50:])
        self.assertIn("\x1b[?25h", screen.output)

    def test_keys_sort_scroll_and_help(self):
        screen = self.terminal(columns=80, rows=20)
        screen.wait_for("sorted by arrival")
        screen.write("s")
        screen.wait_for("sorted by age")
        screen.write("?")
        screen.wait_for(r"q, Ctrl-C +end")
        screen.output = ""
        screen.write("?")
        screen.wait_for("sorted by age")
        self.assertIn("\x1b[1m", screen.output, "the head of the table is bold")
        screen.write("\x1b[B\x1b[A\x1b[6~")  # keys that send sequences do not end it
        screen.output = ""
        screen.wait_for("no jobs|completed")
        screen.write("q")
        self.assertEqual(screen.end(), 0)

    def test_ctrl_c_and_sigterm_end_it_and_give_the_terminal_back(self):
        for end in (lambda s: s.write("\x03"), lambda s: os.kill(s.pid, signal.SIGTERM)):
            screen = self.terminal()
            screen.wait_for("budget")
            end(screen)
            self.assertEqual(screen.end(), 0)
            self.assertIn("\x1b[?1049l", screen.output)

    def test_a_daemon_that_goes_and_comes(self):
        folder = self.folder / "other"
        folder.mkdir()
        daemon = Daemon(folder=folder)
        self.addCleanup(daemon.close)
        screen = Terminal(fixture.BIN / "cuzkctl", "--address", daemon.address, "top", "--interval", "200ms")
        screen.wait_for("up ")
        daemon.kill()
        screen.wait_for("NO ANSWER")
        screen.output = ""
        again = Daemon(folder=folder)
        self.addCleanup(again.close)
        while True:
            screen.output = ""
            frame = screen.wait_for("cuzkd at")
            if "NO ANSWER" not in frame[0]:
                break
        screen.write("q")
        self.assertEqual(screen.end(), 0)

    def test_plain_text_where_there_is_no_terminal(self):
        printed = self.daemon.control("top", "--count", "2", "--interval", "100ms")
        self.assertEqual(printed.code, 0, printed)
        self.assertEqual(printed.out.count("cuzkd at"), 2)
        self.assertNotIn("\x1b", printed.out)
        printed = self.daemon.control("--json", "top", "--count", "2", "--interval", "100ms")
        pictures = [json.loads(line) for line in printed.out.splitlines()]
        self.assertEqual(len(pictures), 2)
        self.assertGreater(pictures[0]["budget_bytes"], 0)

    def test_refusals(self):
        self.assertEqual(self.daemon.control("top", "--interval", "1ms").code, 2)
        self.assertEqual(control("--address", f"unix:{self.folder}/s", "top", "--count", "1").code, 3)


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
