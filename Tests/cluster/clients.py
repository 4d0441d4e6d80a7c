"""Clients that write to a cluster and read from it, and note all they get; for Scripts/kill-cluster."""
import json, socket, threading, time

WAIT = 120  # seconds until a round has failed


class Failure(Exception):
    pass


class Connection:
    """A client of one daemon, with one request at a time."""

    def __init__(self, path, timeout):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        self.socket.connect(path)
        self.lines = self.socket.makefile("rb")
        self.count = 0

    def send(self, method, params):
        self.count += 1
        line = json.dumps({"id": self.count, "method": method, "params": params})
        self.socket.sendall(line.encode() + b"\n")

    def next(self):
        line = self.lines.readline()
        if not line.endswith(b"\n"):
            raise OSError("the connection has ended")
        return json.loads(line)

    def call(self, method, params):
        self.send(method, params)
        while True:
            frame = self.next()
            if frame.get("id") == self.count:
                return frame
            if frame.get("method") == "closing":
                raise OSError("the daemon stops")

    def close(self):
        self.lines.close()
        self.socket.close()


class Pulse:
    """The times of acknowledged writes of all writers."""

    def __init__(self):
        self.lock, self.condition = threading.Lock(), threading.Condition()
        self.begin()

    def begin(self):
        """Begins to look for the longest time without a write."""
        with self.lock:
            self.last, self.longest = time.monotonic(), 0

    def beat(self):
        with self.lock:
            now = time.monotonic()
            self.longest = max(self.longest, now - self.last)
            self.last = now

    def wait(self, since):
        """Waits for a write that is acknowledged after a moment."""
        end = time.monotonic() + WAIT
        while self.last <= since:
            if time.monotonic() > end:
                raise Failure(f"no write was acknowledged within {WAIT} s")
            time.sleep(0.002)


class Writer(threading.Thread):
    """Adds 1 to a cell, and checks that the answers count up.

    Each command has a `cmd`, and is repeated until it is answered: at the next daemon, if one refuses
    it because it follows or stops, or if the connection is lost.
    """

    def __init__(self, nodes, index, pulse, pause):
        super().__init__(daemon=True)
        self.nodes, self.home, self.pulse, self.pause = nodes, index, pulse, pause
        self.name, self.done, self.following, self.repeated = f"w{index}", 0, 0, 0
        self.place, self.connection, self.fault = index, None, None
        self.may_run, self.has_rested, self.is_over = threading.Event(), threading.Event(), False

    def run(self):
        try:
            while True:
                if not self.may_run.is_set():
                    self.has_rested.set()
                    self.may_run.wait()
                    # The daemon that it began with may be back.
                    self.leave(self.home)
                if self.is_over:
                    return
                self.write(self.done + 1)
                self.done += 1
                time.sleep(self.pause)
        except Exception as error:
            self.fault = error
            self.has_rested.set()

    def rest(self):
        """Stops after the command that is being written."""
        self.has_rested.clear()
        self.may_run.clear()

    def write(self, number):
        params = {"name": self.name, "by": 1, "_meta": {"cmd": f"{self.name}-{number}"}}
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            try:
                frame = self.client().call("cells.add", params)
            except (OSError, ValueError):
                self.leave()
                continue
            error = frame.get("error")
            if error is None:
                if frame["result"]["value"] != number:
                    raise Failure(f"{params['_meta']['cmd']} was answered with {frame['result']}")
                # The answer to a repeated command may come while nobody takes writes.
                if frame["result"].get("replayed"):
                    self.repeated += 1
                else:
                    self.pulse.beat()
                return
            if error["data"]["name"] not in ("read_only", "shutting_down"):
                raise Failure(f"{params['_meta']['cmd']} was refused: {error}")
            if error["data"].get("reason") == "following":
                self.following += 1
            self.leave()
        raise Failure(f"{params['_meta']['cmd']} was not answered within {WAIT} s")

    def client(self):
        if self.connection is None:
            self.connection = Connection(self.nodes[self.place % len(self.nodes)].path, 0.5)
        return self.connection

    def leave(self, place=None):
        """Goes to the next daemon, or to one."""
        if self.connection is not None:
            self.connection.close()
        self.connection = None
        self.place = self.place + 1 if place is None else place
        time.sleep(0.005)


class Reader(threading.Thread):
    """Reads all events of one daemon, also after it was killed."""

    def __init__(self, node):
        super().__init__(daemon=True)
        self.node, self.events, self.last = node, [], 0
        self.epoch, self.fault, self.is_over = None, None, False

    def run(self):
        while not self.is_over and self.fault is None:
            try:
                self.read()
            except (OSError, ValueError):
                time.sleep(0.02)
            except Exception as error:
                self.fault = error

    def read(self):
        client = Connection(self.node.path, 1)
        try:
            params = {"source": "events", "from": {"after": self.last}}
            if self.epoch is not None:
                params["epoch"] = self.epoch
            answer = client.call("subscribe", params)
            if "error" in answer:
                raise Failure(f"{self.node.name} refuses the subscription: {answer['error']}")
            self.epoch = answer["result"]["epoch"]
            while not self.is_over:
                try:
                    frame = client.next()
                except TimeoutError:
                    # A part of a line may be lost with the timeout.
                    return
                if frame.get("method") == "next":
                    self.take(frame["params"])
        finally:
            client.close()

    def take(self, params):
        if params["seq"] <= self.last:
            raise Failure(f"{self.node.name} sends event {params['seq']} after {self.last}")
        # An event without a position before it was lost; the check says which.
        self.events.append((params["seq"], params["event"].get("cmd") or ""))
        self.last = params["seq"]
