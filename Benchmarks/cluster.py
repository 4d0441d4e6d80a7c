"""Measures daemons that share a journal in PostgreSQL, beside a file and plain inserts: Scripts/bench cluster.

usage: cluster.py LOAD BINDERD
  SERVERS=one|three   one server without standbys, or three with Patroni, where each commit waits for a standby
  ROUNDS=5 SECONDS_EACH=2 WATCHERS=3000
All of it runs on this machine, with synchronous_commit on. Rounds alternate between what is compared.
"""
import os, re, shutil, signal, socket, statistics, subprocess, sys, tempfile, threading, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT + "/Tests/cluster")
from databases import Patroni, Single, call

LOAD, BINDERD = sys.argv[1:3]
ROUNDS, SECONDS = int(os.environ.get("ROUNDS", 5)), os.environ.get("SECONDS_EACH", "2")
WATCHERS = int(os.environ.get("WATCHERS", 3000))
COUNTS = (1, 2, 3)
LINE = b'{"id":%d,"method":"cells.set","params":{"name":"lamp","value":"%058d"}}\n'


class Daemon:
    def __init__(self, home, name, journal, options):
        self.name, self.path = name, f"{home}/{name}.sock"
        words = [BINDERD, "--config", "/dev/null", "--bind-dir", f"{home}/bind.d", "--socket", self.path, "--journal", journal]
        self.process = subprocess.Popen(words + options, stderr=subprocess.DEVNULL)
        while not os.path.exists(self.path):
            if self.process.poll() is not None:
                sys.exit(f"cluster.py: {name} ends with exit code {self.process.returncode}")
            time.sleep(0.05)

    def connect(self):
        client = socket.socket(socket.AF_UNIX)
        client.connect(self.path)
        return client, client.makefile("rb")

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


class Refused(Exception):
    pass


def load(mode, daemon, *options):
    """Runs the load generator and returns its figures."""
    words = [LOAD, mode, "-u", daemon.path, "-s", str(daemon.process.pid), "-d", SECONDS, *map(str, options)]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise Refused(done.stderr.strip())
    return {name: float(value) for name, value in re.findall(r"(\w+)=([\d.]+)", done.stdout)}


class Table:
    """Figures of rows and columns, a list of rounds each."""

    def __init__(self):
        self.rows = {}

    def add(self, row, column, figure):
        self.rows.setdefault(row, {}).setdefault(column, []).append(figure)

    def print(self, columns):
        print("| | " + " | ".join(columns) + " |\n|" + "---|" * (len(columns) + 1))
        for row, cells in self.rows.items():
            print(f"| {row} | " + " | ".join(self.text(cells.get(column)) for column in columns) + " |")

    @staticmethod
    def text(figures):
        if not figures:
            return ""
        digits = 2 if statistics.median(figures) < 10 else 1 if statistics.median(figures) < 100 else 0
        return "{0:,.{3}f} ({1:,.{3}f}–{2:,.{3}f})".format(statistics.median(figures), min(figures), max(figures), digits)


def lags(active, follower):
    """Returns the times from the answer of the active daemon to the value at the follower, in ms."""
    watcher, frames = follower.connect()
    watcher.sendall(b'{"id":1,"method":"subscribe","params":{"source":"cells/lamp","mode":"every"}}\n')
    frames.readline()
    seen, answered = {}, {}

    def watch():
        for line in frames:
            if b'"value":"' in line:
                seen[line[line.rindex(b'"value":"') + 9:][:58]] = time.monotonic()

    threading.Thread(target=watch, daemon=True).start()
    client, lines = active.connect()
    end, i = time.monotonic() + float(SECONDS), time.monotonic_ns()
    while time.monotonic() < end:
        i += 1
        client.sendall(LINE % (i, i))
        lines.readline()
        answered[b"%058d" % i] = time.monotonic()
        time.sleep(0.005)
    time.sleep(0.5)
    client.close()
    watcher.shutdown(socket.SHUT_RDWR)
    if answered.keys() - seen.keys():
        sys.exit("cluster.py: a value did not reach the follower")
    return [max(0, seen[key] - at) * 1000 for key, at in answered.items()]


class Bench:
    def __init__(self, home):
        self.home, self.table = home, Table()
        self.servers = {"one": Single, "three": Patroni}[os.environ.get("SERVERS", "one")](home)
        call(BINDERD, "--config", "/dev/null", "--init", "--journal", self.servers.journal, *self.servers.options)
        self.file = Daemon(home, "file", home + "/journal.db", [])
        self.nodes = []

    def grow(self, count):
        """Starts daemons until there are so many; the first is the active one."""
        while len(self.nodes) < count:
            name = "abc"[len(self.nodes)]
            self.nodes.append(Daemon(self.home, name, self.servers.journal, ["--node", name, *self.servers.options]))
            time.sleep(1.5)

    def column(self):
        return f"{len(self.nodes)} daemon" + "s" * (len(self.nodes) > 1)

    def calls(self, column, daemon):
        for depth, connections in (1, 1), (1, 50), (32, 50):
            name = f"cells.set, {connections} connection{'s' * (connections > 1)}, {depth} deep"
            got = load("set", daemon, "-l", "-c", connections, "-P", depth)
            self.table.add(f"{name} (a second)", column, got["rate"])
            self.table.add(f"{name}, p50 (ms)", column, got["p50"] / 1000)
            self.table.add(f"{name}, p99 (ms)", column, got["p99"] / 1000)

    def fanout(self, column, daemon, watched):
        places = [word for node in watched for word in ("-W", node.path)]
        got = load("fanout", daemon, "-c", WATCHERS, "-P", 64, *places)
        self.table.add(f"to {WATCHERS:,} watchers, mode every (values a second)", column, got["rate"])
        self.table.add("the same: processor of the daemon that writes (µs a value)", column, got["server_us"])
        got = load("latency", daemon, "-c", WATCHERS, *places)
        self.table.add(f"cells.set to the last of {WATCHERS:,} watchers, p50 (ms)", column, got["p50"] / 1000)
        self.table.add(f"cells.set to the last of {WATCHERS:,} watchers, p99 (ms)", column, got["p99"] / 1000)

    def forward(self):
        """Compares a command at a follower, which passes it on, with one at the active daemon."""
        for place, node in ("at the active daemon", self.nodes[0]), ("at a follower", self.nodes[1]):
            try:
                got = load("set", node, "-l", "-c", 1, "-P", 1)
            except Refused as refusal:
                return f"not measured: {refusal}"
            self.table.add(f"cells.set {place}, 1 connection, 1 deep, p50 (ms)", self.column(), got["p50"] / 1000)
            self.table.add(f"cells.set {place}, 1 connection, 1 deep, p99 (ms)", self.column(), got["p99"] / 1000)
        return None

    def floor(self):
        """Returns the transactions a second of pgbench, with one INSERT each, of one connection."""
        self.servers.query("CREATE TABLE IF NOT EXISTS floor (seq bigserial PRIMARY KEY, data text NOT NULL)")
        with open(self.home + "/insert.sql", "w") as script:
            script.write("INSERT INTO floor (data) VALUES (repeat('x', 150));\n")
        sign = "&" if "?" in self.servers.journal else "?"
        text = call(call(ROOT + "/Scripts/postgres", "bin") + "/pgbench", "-n", "-M", "prepared", "-T", str(max(1, int(float(SECONDS)))),
                    "-f", self.home + "/insert.sql", f"{self.servers.journal}{sign}target_session_attrs=read-write")
        return float(text.split("tps = ")[1].split()[0])

    def run(self):
        times, floors, refusal = [], [], None
        for _ in range(ROUNDS):
            self.calls("a file", self.file)
            self.fanout("a file", self.file, [self.file])
            floors.append(self.floor())
            for count in COUNTS:
                self.grow(count)
                self.calls(self.column(), self.nodes[0])
                if count != 2:
                    self.fanout(self.column(), self.nodes[0], self.nodes)
                if count == 2:
                    times += lags(self.nodes[0], self.nodes[1])
                    refusal = refusal or self.forward()
            while len(self.nodes) > 1:
                self.nodes.pop().end()
        self.table.print(["a file", "1 daemon", "2 daemons", "3 daemons"])
        times.sort()
        print(f"\n- medians of {ROUNDS} rounds of {SECONDS} s (lowest–highest); a file: durability always;"
              f" watchers are spread over the daemons")
        print(f"- beside it, pgbench with one INSERT a transaction, 1 connection: {Table.text(floors)} a second")
        print(f"- lag of a follower after the answer: p50 {times[len(times) // 2]:.2f} ms,"
              f" p99 {times[len(times) * 99 // 100]:.2f} ms, of {len(times)} values")
        if refusal:
            print(f"- a command at a follower: {refusal}")

    def end(self):
        for daemon in self.nodes + [self.file]:
            daemon.end()
        self.servers.end()


def main():
    home = tempfile.mkdtemp(prefix="binder-bench.", dir="/tmp")
    os.chmod(home, 0o711)
    os.mkdir(home + "/bind.d")
    print(f"- load average at start {' '.join(open('/proc/loadavg').read().split()[:3])}", flush=True)
    bench = None
    try:
        bench = Bench(home)
        bench.run()
    finally:
        if bench:
            bench.end()
        shutil.rmtree(home, ignore_errors=True)


main()
