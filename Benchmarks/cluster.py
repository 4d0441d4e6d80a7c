"""Measures a journal in PostgreSQL beside one in a file, and beside plain inserts: Scripts/bench cluster.

usage: cluster.py BINDERD
The server runs on this machine without standbys, with synchronous_commit on. Rounds alternate.
"""
import os, shutil, signal, socket, statistics, subprocess, sys, tempfile, threading, time

binderd, seconds, rounds = sys.argv[1], float(os.environ.get("SECONDS_EACH", 2)), int(os.environ.get("ROUNDS", 5))
postgres = os.path.dirname(os.path.abspath(__file__)) + "/../Scripts/postgres"
LINE = b'{"id":%d,"method":"cells.set","params":{"name":"lamp","value":"%058d"}}\n'


def call(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


class Daemon:
    def __init__(self, home, name, journal):
        self.path = f"{home}/{name}.sock"
        words = [binderd, "--config", "/dev/null", "--bind-dir", f"{home}/bind.d", "--socket", self.path, "--journal", journal]
        if journal.startswith("postgres:"):
            words += ["--without-replication", "--node", name]
        self.process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        while not os.path.exists(self.path):
            if self.process.poll() is not None:
                sys.exit(f"cluster.py: {name} ends with {self.process.returncode}")
            time.sleep(0.05)

    def connect(self):
        client = socket.socket(socket.AF_UNIX)
        client.connect(self.path)
        return client, client.makefile("rb")

    def rate(self, depth):
        """Returns the answered commands a second of one connection, `depth` at a time."""
        client, lines = self.connect()
        count, end = 0, time.monotonic() + seconds
        begin = time.monotonic()
        while time.monotonic() < end:
            client.sendall(b"".join(LINE % (i, count + i) for i in range(depth)))
            for _ in range(depth):
                if b'"error"' in lines.readline():
                    sys.exit("cluster.py: a command was refused")
            count += depth
        client.close()
        return count / (time.monotonic() - begin)


def lags(active, follower):
    """Returns the times from the answer of the active daemon to the value at the follower, in ms."""
    watcher, frames = follower.connect()
    watcher.sendall(b'{"id":1,"method":"subscribe","params":{"source":"cells/lamp","mode":"every"}}\n')
    frames.readline()
    seen, times = {}, []

    def watch():
        for line in frames:
            seen[line[line.rindex(b'"value":"') + 9:][:58]] = time.monotonic()

    threading.Thread(target=watch, daemon=True).start()
    client, lines = active.connect()
    end, i = time.monotonic() + seconds, 0
    answered = {}
    while time.monotonic() < end:
        i += 1
        client.sendall(LINE % (i, i))
        lines.readline()
        answered[b"%058d" % i] = time.monotonic()
        time.sleep(0.005)
    time.sleep(0.5)
    client.close()
    for key, at in answered.items():
        if key not in seen:
            sys.exit("cluster.py: a value did not reach the follower")
        times.append(max(0, seen[key] - at) * 1000)
    return times


def main():
    home = tempfile.mkdtemp(prefix="binder-bench.", dir="/tmp")
    os.chmod(home, 0o711)
    os.mkdir(home + "/bind.d")
    server, daemons = home + "/pg", []
    try:
        call(postgres, "start", server)
        journal = f"postgres:///postgres?host={server}&user=postgres"
        call(binderd, "--config", "/dev/null", "--init", "--journal", journal, "--without-replication")
        psql = ["psql", "-h", server, "-U", "postgres", "-AtXqc"]
        call(*psql, "CREATE TABLE floor (seq bigserial PRIMARY KEY, data text NOT NULL)")
        with open(home + "/insert.sql", "w") as script:
            script.write("INSERT INTO floor (data) VALUES (repeat('x', 150));\n")
        pgbench = [call(postgres, "bin") + "/pgbench", "-h", server, "-U", "postgres", "-n", "-M", "prepared",
                   "-T", str(max(1, int(seconds))), "-f", home + "/insert.sql", "postgres"]
        active = Daemon(home, "a", journal)
        daemons = [active, Daemon(home, "file", home + "/journal.db")]
        rows = {("1 at a time", "PostgreSQL"): [], ("1 at a time", "file"): [], ("1 at a time", "floor"): []}
        rows |= {("64 at a time", "PostgreSQL"): [], ("64 at a time", "file"): [], ("with a follower, 64", "PostgreSQL"): []}
        times = []
        for depth, name in (1, "1 at a time"), (64, "64 at a time"):
            for _ in range(rounds):
                for place, daemon in zip(("PostgreSQL", "file"), daemons):
                    rows[name, place].append(daemon.rate(depth))
                if depth == 1:
                    text = call(*pgbench)
                    rows[name, "floor"].append(float(text.split("tps = ")[1].split()[0]))
        daemons.append(Daemon(home, "b", journal))
        time.sleep(1.5)
        for _ in range(rounds):
            rows["with a follower, 64", "PostgreSQL"].append(active.rate(64))
            times += lags(active, daemons[-1])
        print(f"commands a second of one client, medians of {rounds} rounds of {seconds:g} s"
              f" (spread); floor: pgbench, one INSERT a transaction\n")
        print("| commands | PostgreSQL | file | floor |\n|---|---|---|---|")
        for name in dict.fromkeys(name for name, _ in rows):
            cells = []
            for place in "PostgreSQL", "file", "floor":
                found = rows.get((name, place))
                cells.append(f"{statistics.median(found):,.0f} ({min(found):,.0f}–{max(found):,.0f})" if found else "–")
            print(f"| {name} | " + " | ".join(cells) + " |")
        times.sort()
        print(f"\nlag of a follower after the answer: p50 {times[len(times) // 2]:.2f} ms,"
              f" p99 {times[len(times) * 99 // 100]:.2f} ms, of {len(times)} values")
    finally:
        for daemon in daemons:
            daemon.process.send_signal(signal.SIGTERM)
            daemon.process.wait()
        subprocess.run([postgres, "stop", server, "immediate"])
        shutil.rmtree(home, ignore_errors=True)


main()
