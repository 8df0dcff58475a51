#!/usr/bin/env python3
"""Runs every command of the operators' pages, in order, on a copy of this machine: an overlay over its files, with a
network and processes of its own, on which the package is really installed. Only systemd is a double: it starts, stops
and reloads what the unit file says, as the unit's user. Needs root.

In a page, a comment before a block changes how it is taken:
  <!-- not run: REASON -->   only its form is checked
  <!-- exit: 1 8 -->         the block may end with these codes
  <!-- last -->              the block runs after all others

Usage: operations_test.py BIN VECTORS PARAMETERS SOURCE FOLDER   (FOLDER: where cpack put the package)
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest

import daemon_fixture as fixture
import net_fixture as net
import command_test as commands
import package_test as packing

SOURCE = FOLDER = None
PAGES = ("INSTALL.md", "CURIO.md", "RUNNING.md", "TROUBLESHOOTING.md")  # in the order of reading
HOME = "root/operations"  # where the commands run
# Made smaller: what the document says of 32 GiB runs with 2 KiB.
SMALLER = (("32GiB", "2KiB"), ("-32g", "-2k"))


class Block:
    def __init__(self, place, language, marks, text):
        self.place, self.language, self.text = place, language, text
        self.marks = dict(mark.partition(":")[::2] for mark in marks)

    @property
    def exits(self):
        return [int(code) for code in self.marks.get("exit", "0").split()]


def page(name):
    return (SOURCE / "docs" / name).read_text()


def blocks():
    return [block for name in PAGES for block in blocks_of(name)]


def blocks_of(name):
    found, marks, lines = [], [], page(name).splitlines()
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if mark := re.fullmatch(r"<!-- (.*) -->", line):
            marks.append(mark.group(1))
        elif line.startswith("```"):
            end = lines.index("```", number)
            found.append(Block(f"{name}:{number}", line[3:], marks, "\n".join(lines[number:end]) + "\n"))
            number = end + 1
        if not line.startswith("<!--"):
            marks = []
    return found


class Copy:
    """The copy of this machine. Ends with the process that holds it."""

    def __init__(self, folder):
        self.folder, self.root = folder, folder / "machine"
        # A process whose namespaces are the copy's; all processes in there end with it.
        self.holder = subprocess.Popen(
            ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--propagation", "private", "bash", "-euc", f"""
             mount -t tmpfs -o mode=0755 copy {folder}
             mkdir -p {folder}/upper {folder}/work {self.root}
             mount -t overlay overlay -o lowerdir=/,upperdir={folder}/upper,workdir={folder}/work {self.root}
             mount -t proc proc {self.root}/proc
             mount --rbind /sys {self.root}/sys
             mount --rbind /dev {self.root}/dev
             mkdir -p {self.root}/{HOME} {self.root}/run/systemd/system
             ip link set lo up
             echo ready; exec sleep infinity"""], stdout=subprocess.PIPE, text=True)
        if self.holder.stdout.readline().strip() != "ready":
            raise AssertionError("no copy of this machine can be made")
        children = pathlib.Path(f"/proc/{self.holder.pid}/task/{self.holder.pid}/children").read_text().split()
        self.pid = int(children[0])
        self.seen = pathlib.Path(f"/proc/{self.pid}/root{self.root}")  # its files, from outside

    def run(self, script, timeout=900):
        environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root",
                       "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive",
                       # The parameters here are for development.
                       "CUZK_PARAMS_ALLOW_DEVELOPMENT": "true", "CUZK_DEVICES_USE": "cpu"}
        command = ["nsenter", "-t", str(self.pid), "--mount", "--net", "--pid", "chroot", str(self.root), "bash", "-euo",
                   "pipefail", "-c", f"cd /{HOME}\n{script}"]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment,
                              timeout=timeout, stdin=subprocess.DEVNULL)

    def close(self):
        self.holder.kill()
        self.holder.wait()
        self.holder.stdout.close()


class Operations(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="cuzk-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)

    def prepare(self, copy):
        """What is there before the first page begins: the package, Curio's user, parameters, an old settings file."""
        shutil.copy(packing.package_in(FOLDER), copy.seen / HOME)
        directory = copy.seen / "var/tmp/filecoin-proof-parameters"
        directory.mkdir(parents=True, exist_ok=True)
        listed = fixture.control("circuit", "list").out
        stem = re.search(r"(?m)^winning-2k .*?(\S+)\.params", listed).group(1)
        for path in fixture.PARAMS.glob(f"{stem}.*"):
            shutil.copy(path, directory)
        (copy.seen / "data/zk").mkdir(parents=True)
        (copy.seen / "data/zk/cuzk.toml").write_text(commands.INCUMBENT)
        for name in ("systemctl", "journalctl"):
            target = copy.seen / "usr/local/sbin" / name
            shutil.copy(pathlib.Path(__file__).parents[2] / "doubles" / "systemd.py", target)
            target.chmod(0o755)
        (copy.seen / "etc/apt/apt.conf.d/99yes").write_text('APT::Get::Assume-Yes "true";\n')  # nobody is there to ask
        made = copy.run("getent passwd curio || useradd --system curio")
        self.assertEqual(made.returncode, 0, made.stdout)

    def test_every_command_runs(self):
        if os.geteuid() != 0:
            if os.environ.get("CI"):
                self.fail("needs root")
            self.skipTest("needs root")
        todo = [b for b in blocks() if b.language == "sh" and "not run" not in b.marks]
        todo.sort(key=lambda b: "last" in b.marks)  # stable
        self.assertGreater(len(todo), 10)
        copy = Copy(self.folder)
        self.addCleanup(copy.close)
        self.prepare(copy)
        for block in todo:
            script = block.text
            for large, small in SMALLER:
                script = script.replace(large, small)
            done = copy.run(script)
            self.assertIn(done.returncode, block.exits, f"{block.place}:\n{script}\n{done.stdout}"
                          f"\n{copy.run('cat /var/log/cuzkd.log || true').stdout}")
            self.assertNotIn("command not found", done.stdout, f"{block.place}")

    def test_every_page_has_commands(self):
        for name in PAGES:
            self.assertTrue([block for block in blocks_of(name) if block.language == "sh"], name)

    def test_links_between_pages_lead_somewhere(self):
        for name in (*PAGES, "METRICS.md", "../README.md", "../CONTRIBUTING.md"):
            for target in re.findall(r"\]\((?!http)([^)\s]+)\)", page(name)):
                file, _, anchor = target.partition("#")
                path = (SOURCE / "docs" / name).resolve() if not file else (SOURCE / "docs" / name).parent / file
                self.assertTrue(path.exists(), f"{name}: {target}")
                if anchor:
                    headings = re.findall(r"(?m)^#+ (.+)$", path.read_text())
                    anchors = {re.sub(r"[^\w\- ]", "", h).strip().lower().replace(" ", "-") for h in headings}
                    self.assertIn(anchor, anchors, f"{name}: {target}")

    def test_what_is_not_run_says_why(self):
        for block in blocks():
            self.assertIn(block.language, ("sh", "toml"), f"{block.place}")
            self.assertLessEqual(set(block.marks), {"not run", "exit", "last"}, f"{block.place}")
            if "not run" in block.marks:
                self.assertGreater(len(block.marks["not run"].split()), 2, f"{block.place}")
                print(f"{block.place} is not run: {block.marks['not run'].strip()}")

    def test_settings_are_accepted(self):
        authority = net.Certificates(self.folder)
        certificate, key = authority.sign("server", 1)
        folder = self.folder / "tls"
        folder.mkdir()
        for made, name in ((certificate, "server.crt"), (key, "server.key"), (authority.ca, "clients.crt")):
            shutil.copy(made, folder / name)
        for block in blocks():
            if block.language != "toml":
                continue
            table = tomllib.loads(block.text)
            if "not run" in block.marks:
                self.assertEqual(set(table["Cuzk"]), {"Address", "MaxPending", "ProveTimeout"})
                continue
            file = self.folder / "block.toml"
            file.write_text(block.text.replace("/etc/cuzkd/tls", str(folder)))
            checked = fixture.run(fixture.BIN / "cuzkd", "--check-config", "--config", file)
            self.assertEqual(checked.code, 0, f"{block.place}: {checked}")

    def test_commands_inside_sentences_exist(self):
        """`cuzkctl doctor --json` in a sentence: the program knows the subcommands and the flags."""
        text = re.sub(r"(?s)```.*?```", "", "".join(map(page, PAGES)))
        found = re.findall(r"`((?:cuzkd|cuzkctl)(?: [^`]+)?)`", text)
        self.assertGreater(len(found), 5)
        for command in found:
            program, *words = command.split()
            while words and not words[0].startswith("-") and words[0] == words[0].lower():
                answer = fixture.run(fixture.BIN / program, words[0], "--help")
                self.assertEqual(answer.code, 0, command)
                program_words = [words.pop(0)]
                if words and not words[0].startswith("-"):
                    answer = fixture.run(fixture.BIN / program, *program_words, words[0], "--help")
                    self.assertEqual(answer.code, 0, command)
                break
            pages = "".join(fixture.run(fixture.BIN / program, "--print-man", *page).out
                            for page in ([["cuzkd"], ["cuzkd.toml"]] if program == "cuzkd" else [[]]))
            for word in words:
                if word.startswith("--"):
                    self.assertIn(word.replace("-", "\\-"), pages, command)

    def test_exit_codes_are_those_of_the_pages(self):
        text = page("RUNNING.md").partition("## Exit codes")[2]
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()
                if re.match(r"\| ?\d* ?\|", line)]
        for program, column in (("cuzkd", 0), ("cuzkctl", 2)):
            name = ("cuzkd",) if program == "cuzkd" else ()
            printed = fixture.run(fixture.BIN / program, "--print-man", *name).out
            exits = printed.partition(".SH EXIT STATUS")[2].partition(".SH")[0]
            known = set(re.findall(r"\\fB(\d+)\\fR", exits))
            self.assertEqual({row[column] for row in rows} - {""}, known)


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    SOURCE, FOLDER = pathlib.Path(sys.argv[4]), pathlib.Path(sys.argv[5])
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]], verbosity=2)
