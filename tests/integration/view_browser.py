"""A headless Chromium that tests drive through its DevTools protocol, with nothing but Python's own library."""

import base64
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request

FLAGS = ["--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-extensions", "--hide-scrollbars",
         "--remote-debugging-port=0"]
PATIENCE = 120  # seconds; a browser beside a prover on few cores is slow


class Socket:
    """The client's half of RFC 6455, as far as the protocol needs it: whole text messages in both directions."""

    def __init__(self, url):
        host, path = url.removeprefix("ws://").split("/", 1)
        address, port = host.rsplit(":", 1)
        self.stream = socket.create_connection((address, int(port)), timeout=PATIENCE)
        key = base64.b64encode(os.urandom(16)).decode()
        self.stream.sendall((f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self.read_more()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise AssertionError(f"no WebSocket: {head}")

    def read_more(self):
        data = self.stream.recv(1 << 16)
        if not data:
            raise AssertionError("the browser closed the connection")
        self.buffer += data

    def take(self, size):
        while len(self.buffer) < size:
            self.read_more()
        taken, self.buffer = self.buffer[:size], self.buffer[size:]
        return taken

    def send(self, text, opcode=1):
        data = text.encode()
        mask = os.urandom(4)
        size = len(data)
        head = bytes([0x80 | opcode])
        if size < 126:
            head += bytes([0x80 | size])
        elif size < 1 << 16:
            head += bytes([0x80 | 126]) + struct.pack(">H", size)
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", size)
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(data))
        self.stream.sendall(head + mask + masked)

    def receive(self):
        message = b""
        while True:
            first, second = self.take(2)
            size = second & 0x7f
            if size == 126:
                size = struct.unpack(">H", self.take(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self.take(8))[0]
            data = self.take(size)
            opcode = first & 0x0f
            if opcode == 9:  # ping
                self.send(data.decode(), opcode=10)
            elif opcode == 8:
                raise AssertionError("the browser closed the connection")
            elif opcode in (0, 1):
                message += data
                if first & 0x80:
                    return message.decode()


class Page:
    """One tab. What it complains about is gathered in `complaints`."""

    def __init__(self, url):
        self.socket = Socket(url)
        self.close = self.socket.stream.close
        self.number = 0
        self.complaints = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.receive())
            if message.get("id") == self.number:
                if "error" in message:
                    raise AssertionError(f"{method}: {message['error']}")
                return message["result"]
            self.note(message)

    def note(self, event):
        method, parameters = event.get("method", ""), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(parameters["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.complaints.append(json.dumps(parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.complaints.append(json.dumps(parameters["entry"]))
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append(f"dialog: {parameters}")

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, expression):
        """Waits until the expression is true, and returns its value."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            value = self.evaluate(expression)
            if value:
                return value
            time.sleep(0.1)
        raise AssertionError(f"never: {expression}\n{self.text()}")

    def text(self):
        return self.evaluate("document.body.innerText")

    def size(self, width, height, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def prefer(self, **features):
        """Media features, such as prefers_color_scheme="dark"."""
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def go(self, url):
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def key(self, name):
        code = {"Tab": 9, "Enter": 13, " ": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}[name]
        text = {"Enter": "\r", " ": " "}.get(name)
        down = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name, code=name, windowsVirtualKeyCode=code, **down)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name, code=name, windowsVirtualKeyCode=code)

    def screenshot(self, path, whole=True):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        pathlib.Path(path).write_bytes(base64.b64decode(data["data"]))


class Browser:
    def __init__(self):
        program = next((p for p in ("chromium", "chromium-browser", "google-chrome") if shutil.which(p)), None)
        if program is None:
            raise AssertionError("no Chromium: install the package chromium")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cuzk-browser-"))
        self.pages = []
        flags = FLAGS + (["--no-sandbox"] if os.geteuid() == 0 else [])
        self.log = open(self.folder / "log", "w+")
        # Its own home: nothing of whoever runs the tests is read or written.
        self.process = subprocess.Popen([program, *flags, f"--user-data-dir={self.folder}/profile", "about:blank"],
                                        stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL,
                                        env={**os.environ, "HOME": str(self.folder)})
        self.port = self.wait_for_port()

    def wait_for_port(self):
        end = time.monotonic() + PATIENCE
        file = self.folder / "profile" / "DevToolsActivePort"
        while time.monotonic() < end:
            if file.exists() and (lines := file.read_text().splitlines()):
                return int(lines[0])
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError("the browser does not start: " + (self.folder / "log").read_text(errors="replace"))

    def open(self, url="about:blank"):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/json/new?about:blank", method="PUT")
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            page = Page(json.load(answer)["webSocketDebuggerUrl"])
        self.pages.append(page)
        page.go(url)
        return page

    def close(self):
        for page in self.pages:
            page.close()
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
