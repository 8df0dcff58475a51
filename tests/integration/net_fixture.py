"""What the tests of the daemon's manners share: a daemon with a device that misbehaves on demand, a stand-in for
systemd's notification socket, certificates, and the independent client."""

import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

import daemon_fixture as fixture

CLIENT = pathlib.Path(__file__).resolve().parent / "grpcjs" / "client.mjs"


def wait_for(condition, what="the condition", seconds=600):
    """Waits until the condition gives something true, and returns it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"in vain: {what}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def http_get(daemon, path):
    """Code and body."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{daemon.http_port()}{path}") as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def metrics(daemon):
    """Samples by name with labels."""
    text = http_get(daemon, "/metrics")[1]
    return {name: float(value) for name, value in
            (line.rsplit(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))}


class Systemd:
    """The socket that NOTIFY_SOCKET names."""

    def __init__(self, folder):
        self.path = str(pathlib.Path(folder) / "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.settimeout(0.05)
        self.seen = []  # (when, line)

    def close(self):
        self.socket.close()

    def receive(self):
        """Everything that has arrived so far, as lines."""
        while True:
            try:
                text = self.socket.recv(4096).decode()
            except (TimeoutError, socket.timeout):
                return [line for _, line in self.seen]
            self.seen += [(time.monotonic(), line) for line in text.splitlines()]

    def wait_for(self, prefix, count=1, seconds=600):
        """The lines with that beginning, once there are so many."""
        def found():
            lines = [line for line in self.receive() if line.startswith(prefix)]
            return lines if len(lines) >= count else None
        return wait_for(found, f"{prefix} among {self.seen[-20:]}", seconds)

    def forget(self):
        self.receive()
        self.seen.clear()


class FaultyDaemon(fixture.Daemon):
    """A daemon whose device is told to misbehave: tests/integration/net_faulty_daemon.cc has the commands."""
    PROGRAM = "cuzk_faulty_daemon"

    def variables(self, log):
        return {"FAULTY_CUZKD": str(self.folder / "faults")}

    def tell(self, command):
        path = tempfile.mktemp(dir=self.folder)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as own:
            own.bind(path)
            own.settimeout(600)
            wait_for(lambda: (self.folder / "faults").exists(), "the socket for commands")
            own.sendto(command.encode(), str(self.folder / "faults"))
            answer = own.recv(256).decode()
        os.unlink(path)
        return answer

    def wait_until_held(self, partitions=1):
        wait_for(lambda: int(self.tell("waiting")) >= partitions, "partitions inside the device")


class Certificates:
    """An authority, and what it signs, made with openssl."""

    def __init__(self, folder, name="authority"):
        self.folder = pathlib.Path(folder)
        self.name = name
        self.ca = self.folder / f"{name}.crt"
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                     "-subj", f"/CN={name}", "-keyout", self.folder / f"{name}.key", "-out", self.ca)

    def openssl(self, *arguments):
        done = subprocess.run(["openssl", *[str(a) for a in arguments]], cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    def sign(self, name, serial, days=1, encrypt=False):
        """(certificate, key) for localhost and 127.0.0.1."""
        key, request, certificate = (self.folder / f"{name}{end}" for end in (".key", ".csr", ".crt"))
        names = self.folder / "names"
        names.write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-subj", f"/CN={name}", "-keyout", key,
                     "-out", request, *(["-passout", "pass:secret"] if encrypt else ["-nodes"]))
        self.openssl("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self.folder / f"{self.name}.key",
                     "-set_serial", serial, "-days", days, "-extfile", names, "-out", certificate)
        key.chmod(0o600)
        return certificate, key


def client(modules, command, address, *arguments, tls=None):
    """The independent client; `tls`: paths by ca, cert, key. Returns the object that it printed."""
    variables = {"GRPCJS_MODULES": str(modules)}
    for name, path in (tls or {}).items():
        variables[f"GRPCJS_TLS_{name.upper()}"] = str(path)
    answer = fixture.run("node", CLIENT, command, address, *arguments, environment=variables)
    if answer.code != 0:
        raise AssertionError(answer)
    return answer.json()


def folder_for(test):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="cuzk-net-"))
    test.addCleanup(shutil.rmtree, folder, ignore_errors=True)
    return folder
