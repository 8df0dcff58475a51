#!/usr/bin/env python3
"""Clang's thread-safety analysis over core and daemon, with the flags of a build tree: no ABSL_GUARDED_BY member is touched
without its mutex.

Usage: thread_safety_test.py ROOT BUILD
"""

import concurrent.futures
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = BUILD = None
CLANG = shutil.which("clang++")
ANALYSIS = ["-fsyntax-only", "-Wno-everything", "-Wthread-safety", "-Werror=thread-safety"]
WITH_VALUE = {"-o", "-MF", "-MT", "-MQ"}
SAMPLE = """
#include "core/base/mutex.h"
class Counter {
 public:
  int Next() { %s return ++count_; }
 private:
  cuzk::Mutex mutex_;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
};
int Use() { Counter counter; return counter.Next(); }
"""


def flags_of(command):
    """What Clang needs of a compiler's command: definitions, include paths, the language and the processor."""
    words = iter(shlex.split(command))
    kept = []
    for word in words:
        if word in WITH_VALUE:
            next(words)
        elif word in ("-isystem", "-I", "-D"):
            kept += [word, next(words)]
        elif word.startswith(("-I", "-D", "-std=", "-m")):
            kept.append(word)
    return kept


def analyse(source, flags, folder):
    run = subprocess.run([CLANG, *flags, *ANALYSIS, source], cwd=folder, capture_output=True, text=True)
    return "" if run.returncode == 0 else run.stderr


@unittest.skipUnless(CLANG, "clang++ is not installed")
class ThreadSafety(unittest.TestCase):

    def test_the_analysis_sees_a_missing_lock(self):
        for lock, clean in (("cuzk::MutexLock lock(mutex_);", True), ("", False)):
            with tempfile.NamedTemporaryFile("w", suffix=".cc") as source:
                source.write(SAMPLE % lock)
                source.flush()
                found = analyse(source.name, ["-std=c++20", "-I", str(ROOT)], str(ROOT))
            self.assertEqual(found == "", clean, found)

    def test_no_guarded_state_is_touched_without_its_mutex(self):
        with open(BUILD / "compile_commands.json") as file:
            entries = json.load(file)
        wanted = [ROOT / folder for folder in ("core", "daemon")]
        chosen = [entry for entry in entries
                  if any(pathlib.Path(entry["file"]).is_relative_to(folder) for folder in wanted)
                  and entry["file"].endswith(".cc")]
        self.assertTrue(chosen, "no source is in these folders")
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = pool.map(lambda e: analyse(e["file"], flags_of(e["command"]), e["directory"]), chosen)
        self.assertEqual("".join(found), "")


if __name__ == "__main__":
    ROOT, BUILD = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    unittest.main(argv=sys.argv[:1], verbosity=2)
