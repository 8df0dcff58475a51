"""HTTP/2 over a unix socket, frame by frame: what the tests need of RFC 9113 to see and do what no client library does."""

import socket
import struct

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
ACK = END_STREAM = 1
END_HEADERS = 4
INITIAL_WINDOW_SIZE = 4


class Connection:
    """One thread. Answers nothing by itself, neither settings nor pings."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(600)
        self.socket.connect(str(path))
        self.buffer = b""
        self.socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        self.send(SETTINGS, 0, b"")

    def close(self):
        self.socket.close()

    def send(self, kind, flags, payload, stream=0):
        head = struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream)
        self.socket.sendall(head + payload)

    def take(self, size):
        while len(self.buffer) < size:
            data = self.socket.recv(1 << 16)
            if not data:
                raise EOFError("the server closed the connection")
            self.buffer += data
        taken, self.buffer = self.buffer[:size], self.buffer[size:]
        return taken

    def shut_window(self):
        """Streams that are opened from now on may send no data."""
        self.send(SETTINGS, 0, struct.pack(">HI", INITIAL_WINDOW_SIZE, 0))

    def call(self, stream, path, message, end=True):
        """Opens a gRPC call with one message, the last one unless told otherwise. Streams are odd and ascend."""
        fields = ((":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "localhost"), ("te", "trailers"),
                  ("content-type", "application/grpc"))
        text = lambda value: bytes([len(value)]) + value.encode()
        self.send(HEADERS, END_HEADERS, b"".join(b"\0" + text(name) + text(value) for name, value in fields), stream)
        self.message(stream, message, end)

    def message(self, stream, message, end=False):
        self.send(DATA, END_STREAM if end else 0, b"\0" + struct.pack(">I", len(message)) + message, stream)

    def frames_of(self, stream):
        """Kind and payload of each frame on the stream until its end. Answers pings meanwhile."""
        while True:
            kind, flags, of, payload = self.frame()
            if kind == PING and not flags & ACK:
                self.send(PING, ACK, payload)
            if of == stream:
                yield kind, payload
                if kind == RST_STREAM or (kind in (DATA, HEADERS) and flags & END_STREAM):
                    return

    def until(self, stream, kind=None):
        """Whether such a frame came on the stream before its end."""
        return any(each == kind for each, _ in self.frames_of(stream))

    def frame(self):
        """Kind, flags, stream, payload; EOFError when the server has closed."""
        length, kind, flags, stream = struct.unpack(">IBBI", b"\0" + self.take(9))
        return kind, flags, stream, self.take(length)
