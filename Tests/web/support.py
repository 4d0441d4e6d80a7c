"""What the tests of binder-web share: a daemon, binder-web, and clients that send what they like."""

import base64
import json
import os
import pathlib
import random
import re
import select
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import unittest

root = pathlib.Path(__file__).resolve().parents[2]
programs = pathlib.Path(os.environ.get("BINDERD_BIN", root / ".build/debug"))


def eventually(condition, seconds=60, what="the condition"):
    """Waits until a condition holds, and returns its value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"never: {what() if callable(what) else what}")
        time.sleep(0.02)


def listens(path):
    """True when a program accepts connections at a path. The file of a socket appears a moment before: between bind and
    listen the kernel refuses connections."""
    accepting = "00010000"
    with open("/proc/net/unix") as sockets:
        return any(words[3] == accepting and words[7:] == [path] for words in map(str.split, sockets))


class Place:
    """A directory of its own, with the processes that run in it."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="binder-web.", dir="/tmp")
        os.chmod(self.directory, 0o700)
        self.socket = f"{self.directory}/bus.sock"
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("BINDER_", "LISTEN_"))},
            "XDG_RUNTIME_DIR": self.directory,
            "BINDER_SOCKET": self.socket,
        }
        self.processes = []

    def start(self, *words, **options):
        process = subprocess.Popen(
            [str(word) for word in words], env=self.environment, stdin=subprocess.DEVNULL, **options
        )
        self.processes.append(process)
        return process

    def start_daemon(self, *options, program=None):
        with open(f"{self.directory}/daemon.log", "a") as log:
            self.daemon = self.start(
                program or programs / "binderd", "--socket", self.socket, "--journal", f"{self.directory}/journal.db",
                *options, stderr=log,
            )
        eventually(lambda: self.try_call("ping"), what="the daemon answers")
        return self.daemon

    def try_call(self, method, params=None):
        try:
            return self.call(method, params)
        except (OSError, ValueError):  # it is not there yet, or ends
            return None

    def call(self, method, params=None):
        """Calls the daemon on a connection of its own."""
        with Lines(self.socket) as lines:
            return lines.call(method, params)

    def start_web(self, *options, port=None):
        """Starts binder-web for oneself, and returns the address that it prints."""
        self.port = port or getattr(self, "port", None) or free_port()
        log = pathlib.Path(f"{self.directory}/web.log")
        with log.open("a") as file:
            self.web = self.start(
                programs / "binder-web", "--port", self.port, *options, stdout=subprocess.PIPE, stderr=file,
            )
        line = self.web.stdout.readline().decode().strip()
        if not line:
            raise AssertionError(f"binder-web does not start: {log.read_text()}")
        return line

    def another_address(self):
        """Returns the address for another browser."""
        words = [programs / "binder-web"]
        return subprocess.run(words, env=self.environment, capture_output=True, check=True, text=True).stdout.strip()

    @property
    def host(self):
        return f"127.0.0.1:{self.port}"

    def kill(self, process):
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()
        self.processes.remove(process)

    def close(self):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()
            if process.stdout:
                process.stdout.close()
        shutil.rmtree(self.directory)


def free_port():
    """Returns a port that nobody has, below those that the kernel gives to connections, so that none gets it meanwhile."""
    while True:
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", random.randrange(20000, 32768)))
            except OSError:
                continue
            return probe.getsockname()[1]


class Lines:
    """A plain client of the daemon."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        try:
            self.socket.connect(path)
        except OSError:
            self.socket.close()
            raise
        self.file = self.socket.makefile("rwb")
        self.last = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        self.socket.close()

    def call(self, method, params=None):
        self.last += 1
        request = {"id": self.last, "method": method, "params": params or {}}
        self.file.write(json.dumps(request).encode() + b"\n")
        self.file.flush()
        while True:
            answer = json.loads(self.file.readline())
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise AssertionError(answer["error"])
                return answer["result"]


class Path:
    """A way to the daemon that can be cut: at once, or when a text passes on it to the daemon."""

    def __init__(self, path, daemon):
        self.daemon = daemon
        self.text, self.cuts = None, 0
        self.pairs = []
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        self.socket.listen(64)
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        while True:
            try:
                client = self.socket.accept()[0]
            except OSError:
                return
            daemon = socket.socket(socket.AF_UNIX)
            try:
                daemon.connect(self.daemon)
            except OSError:
                client.close()
                daemon.close()
                continue
            self.pairs.append((client, daemon))
            threading.Thread(target=self._pump, args=(client, daemon), daemon=True).start()

    def _pump(self, client, daemon):
        try:
            while True:
                for side in select.select([client, daemon], [], [])[0]:
                    data = side.recv(65536)
                    if not data:
                        raise OSError
                    if side is client and self.cuts and self.text in data:
                        self.cuts -= 1
                        raise OSError
                    (daemon if side is client else client).sendall(data)
        except OSError:
            self._end(client, daemon)
            client.close()
            daemon.close()

    @staticmethod
    def _end(*sockets):
        for end in sockets:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut_at(self, text, cuts=1):
        """Loses the next connections that send a text."""
        self.text, self.cuts = text.encode(), cuts

    def cut(self):
        """Loses all connections."""
        for pair in self.pairs:
            self._end(*pair)
        self.pairs = []

    def close(self):
        self.socket.close()
        self.cut()


class FakeDaemon:
    """A socket that counts who connects: nobody, if binder-web has refused a request."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        self.socket.listen(64)
        self.socket.setblocking(False)
        self.clients = []

    def count(self):
        """Returns how many clients have connected so far."""
        while True:
            try:
                self.clients.append(self.socket.accept()[0])
            except BlockingIOError:
                return len(self.clients)

    def close(self):
        for client in [self.socket, *self.clients]:
            client.close()


class Answer:
    """An HTTP answer: the status, the headers in lower case, and the body."""

    def __init__(self, raw):
        head, _, self.body = raw.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        match = re.match(r"HTTP/1\.[01] (\d+)", lines[0])
        self.status = int(match.group(1)) if match else None
        self.headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            self.headers.setdefault(name.lower(), value.strip())
        self.text = self.body.decode("utf-8", "replace")

    def __repr__(self):
        return f"{self.status} {self.headers} {self.text[:300]}"


def receive(connection, seconds=60):
    """Returns all bytes up to the end of the stream."""
    connection.settimeout(seconds)
    chunks = []
    try:
        while chunk := connection.recv(65536):
            chunks.append(chunk)
    except (TimeoutError, ConnectionResetError):
        pass
    return b"".join(chunks)


def send_raw(address, data, seconds=60):
    """Sends bytes and returns what comes back until the connection is closed."""
    family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
    with socket.socket(family) as connection:
        connection.connect(address)
        connection.sendall(data)
        return receive(connection, seconds)


def request(address, path="/", headers=(), method="GET", host=None):
    """Sends a request; `headers` are pairs. `Connection: close` is added."""
    if host is None:
        host = f"{address[0]}:{address[1]}"
    lines = [f"{method} {path} HTTP/1.1"]
    lines += [f"Host: {host}"] if host else []
    lines += [f"{name}: {value}" for name, value in headers]
    lines += ["Connection: close", "", ""]
    return Answer(send_raw(address, "\r\n".join(lines).encode("latin-1")))


class Session:
    """What a browser has after it has opened an address once."""

    def __init__(self, address):
        host, _, path = address.removeprefix("http://").partition("/")
        self.host = host
        self.address = (host.split(":")[0], int(host.split(":")[1]))
        answer = request(self.address, "/" + path)
        self.cookie = answer.headers.get("set-cookie", "").split(";")[0]
        match = re.search(r"#key=([0-9a-f]+)", answer.text)
        self.key = match and match.group(1)
        self.answer = answer

    def get(self, path="/", headers=(), **options):
        return request(self.address, path, [("Cookie", self.cookie), *headers], **options)


class WebSocket:
    """A WebSocket of a session; any part of the handshake may be changed."""

    def __init__(
        self, address, host, path="/socket", origin=None, cookie=None, protocols="binder", version=13, headers=(),
    ):
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.socket = socket.socket(family)
        self.socket.settimeout(60)
        self.socket.connect(address)
        lines = [
            f"GET {path} HTTP/1.1", f"Host: {host}", "Upgrade: websocket", "Connection: Upgrade",
            f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}", f"Sec-WebSocket-Version: {version}",
        ]
        lines += [f"Origin: {origin}"] if origin is not None else []
        lines += [f"Cookie: {cookie}"] if cookie else []
        lines += [f"Sec-WebSocket-Protocol: {protocols}"] if protocols else []
        lines += [f"{name}: {value}" for name, value in headers]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
        head = b""
        while b"\r\n\r\n" not in head:
            chunk = self.socket.recv(4096)
            if not chunk:
                break
            head += chunk
        first, _, self.buffer = head.partition(b"\r\n\r\n")
        self.answer = Answer(first + b"\r\n\r\n" + self.buffer)
        self.is_open = self.answer.status == 101
        if not self.is_open:
            rest = receive(self.socket)
            self.answer = Answer(first + b"\r\n\r\n" + self.buffer + rest)
        self.lines = []

    @classmethod
    def of(cls, session, **changes):
        options = {
            "host": session.host, "origin": f"http://{session.host}", "cookie": session.cookie,
            "protocols": f"binder, key.{session.key}", **changes,
        }
        return cls(session.address, **options)

    def send_frame(self, payload, opcode=1, is_final=True, length=None):
        length = len(payload) if length is None else length
        head = bytes([(0x80 if is_final else 0) | opcode])
        if length < 126:
            head += bytes([0x80 | length])
        elif length < 1 << 16:
            head += bytes([0x80 | 126]) + length.to_bytes(2, "big")
        else:
            head += bytes([0x80 | 127]) + length.to_bytes(8, "big")
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
        self.socket.sendall(head + mask + masked)

    def send(self, message):
        self.send_frame((message if isinstance(message, str) else json.dumps(message)).encode())

    def _take(self, count):
        while len(self.buffer) < count:
            chunk = self.socket.recv(65536)
            if not chunk:
                raise ConnectionError("the socket is closed")
            self.buffer += chunk
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def frame(self):
        """Returns the next frame: whether it is the last of a message, its opcode and payload."""
        first, second = self._take(2)
        length = second & 0x7F
        if length == 126:
            length = int.from_bytes(self._take(2), "big")
        elif length == 127:
            length = int.from_bytes(self._take(8), "big")
        return bool(first & 0x80), first & 0x0F, self._take(length)

    def message(self):
        """Returns the next text message; raises `Closed` at the end."""
        text = b""
        while True:
            is_final, opcode, payload = self.frame()
            if opcode == 8:
                raise Closed(int.from_bytes(payload[:2], "big"), payload[2:].decode())
            if opcode in (9, 10):
                continue
            text += payload
            if is_final:
                return text.decode()

    def line(self):
        """Returns the next line of the daemon."""
        while not self.lines:
            self.lines += self.message().split("\n")
        return json.loads(self.lines.pop(0))

    def call(self, method, params=None, id=1):
        self.send({"id": id, "method": method, "params": params or {}})
        while True:
            answer = self.line()
            if answer.get("id") == id:
                return answer

    def close(self):
        self.socket.close()


class Closed(Exception):
    def __init__(self, code, reason):
        super().__init__(f"{code} {reason}")
        self.code, self.reason = code, reason


class Case(unittest.TestCase):
    """A test with a place of its own."""

    maxDiff = None

    def setUp(self):
        self.place = Place()
        self.addCleanup(self.place.close)

    def open(self, session, **changes):
        """Opens a WebSocket and closes it at the end of the test."""
        web_socket = WebSocket.of(session, **changes)
        self.addCleanup(web_socket.close)
        return web_socket
