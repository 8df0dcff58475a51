"""What the daemon's tests share: the programs, the vectors, and a daemon that is started and ended."""

import json
import lzma
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

BIN = VECTORS = PARAMS = None


def configure(bin_folder, vectors, params):
    global BIN, VECTORS, PARAMS
    BIN, VECTORS, PARAMS = pathlib.Path(bin_folder), pathlib.Path(vectors) / "filecoin", pathlib.Path(params)


def clean_environment():
    """The environment without settings of whoever runs the tests."""
    inherited = ("FIL_PROOFS_PARAMETER_CACHE", "JOURNAL_STREAM", "RUST_LOG", "BELLMAN_NO_GPU", "NOTIFY_SOCKET",
                 "WATCHDOG_USEC", "WATCHDOG_PID")
    return {k: v for k, v in os.environ.items() if not k.startswith("CUZK_") and k not in inherited}


class Daemon:
    """A cuzkd in a folder of its own, on a unix socket."""
    PROGRAM = "cuzkd"

    def __init__(self, *flags, environment=None, params=None, folder=None, wait=True):
        self.folder = folder or pathlib.Path(tempfile.mkdtemp(prefix="cuzkd-"))
        self.socket = self.folder / "s"
        self.address = f"unix:{self.socket}"
        self.log_path = self.folder / "log"
        command = [BIN / self.PROGRAM, "--listen", self.address, "--http.listen", "127.0.0.1:0", "--params.directory",
                   params or PARAMS, "--params.allow_development", "true", "--devices.use", "cpu",
                   "--jobs.state_directory", self.folder / "state", *flags]
        with open(self.log_path, "w") as log:
            self.process = subprocess.Popen([str(c) for c in command], stderr=log, stdout=log,
                                            env={**clean_environment(), **self.variables(log), **(environment or {})})
        if wait:
            self.wait_until_ready()

    def variables(self, _log):
        """Further variables of its environment; the log is the open file."""
        return {}

    def wait_until_ready(self):
        end = time.monotonic() + 600
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise AssertionError(f"cuzkd ended with {self.process.returncode}: {self.log()}")
            if "listening on" in self.log():
                return
            time.sleep(0.05)
        raise AssertionError(f"cuzkd does not listen: {self.log()}")

    def log(self):
        return self.log_path.read_text(errors="replace")

    def http_port(self):
        line = next(line for line in self.log().splitlines() if "http://127.0.0.1:" in line)
        return int(line.split("http://127.0.0.1:")[1].split("/")[0])

    def control(self, *arguments, **options):
        return control("--address", self.address, *arguments, **options)

    def terminate(self, sig=signal.SIGTERM):
        self.process.send_signal(sig)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def close(self):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class Answer:
    """How a program ended and what it said."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def json(self):
        """The last object printed."""
        return json.loads(self.out.strip().splitlines()[-1])

    def __repr__(self):
        return f"exit {self.code}\nstdout: {self.out}\nstderr: {self.err}"


def run(*command, environment=None, timeout=600):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=timeout,
                          env={**clean_environment(), **(environment or {})}, stdin=subprocess.DEVNULL)
    return Answer(done.returncode, done.stdout, done.stderr)


def control(*arguments, **options):
    return run(BIN / "cuzkctl", *arguments, **options)


class DaemonTest(unittest.TestCase):
    """Tests that share one daemon."""
    KIND = Daemon
    FLAGS = ()

    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.KIND(*cls.FLAGS)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cuzk-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def prove_and_verify(self, request, *flags):
        """Proves a request directory with cuzkctl and verifies the proof without the daemon. Returns the proof's path."""
        proof = self.folder / "proof"
        answer = self.daemon.control("--json", "prove", "--request", request, "--out", proof, *flags)
        self.assertEqual(answer.code, 0, answer)
        self.verify(request, proof)
        return proof

    def verify(self, request, proof, expected=0):
        answer = control("verify", "--request", request, "--proof", proof,
                         environment={"CUZK_PARAMS_DIRECTORY": str(PARAMS)})
        self.assertEqual(answer.code, expected, answer)
        return answer

    def copy_of(self, request):
        """A copy of a request directory that may be changed; it replaces the copy made before."""
        target = self.folder / "request"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        for path in request.iterdir():
            packed = path.suffix == ".xz"
            (target / (path.stem if packed else path.name)).write_bytes(
                lzma.decompress(path.read_bytes()) if packed else path.read_bytes())
        return target


def change_request(folder, **fields):
    path = folder / "request.json"
    request = json.loads(path.read_text())
    request.update(fields)
    path.write_text(json.dumps(request))


def requests(kind):
    """The 2 KiB request directories of a kind that can be proved."""
    return [p for p in sorted((VECTORS / kind).iterdir()) if p.name.startswith("2KiB") and "-ni-" not in p.name]
