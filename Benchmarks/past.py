"""Measures what a client feels of branches and trials; `Scripts/bench past` runs it with a binderd.

It writes EVENTS events over 1,000 cells, which is a journal of more than 1 GB. Then a client pings a
thousand times a second: alone, while a branch of the journal is made again and again, and while a trial
reads all events. Each is done ROUNDS times, in turn, and the medians of the rounds are compared.
"""
import os, subprocess, sys, threading, time

from daemon import Client, home, journal, running

binderd, events = sys.argv[1], int(os.environ.get("EVENTS", "10000000"))
rounds = int(os.environ.get("ROUNDS", "5"))


class Filler(Client):
    """A client that also writes many events."""

    def fill(self, count, size=2000):
        """Sets cells, 2,000 requests at a time."""
        for start in range(0, count, size):
            lines = b"".join(
                b'{"id":1,"method":"cells.set","params":["k%d","%058d"]}\n' % (i % 1000, i)
                for i in range(start, min(count, start + size)))
            self.socket.sendall(lines)
            for _ in range(start, min(count, start + size)):
                if b'"result"' not in self.file.readline():
                    raise SystemExit("a set was refused")


def pings(client, until):
    """Pings a thousand times a second until a function is true; returns the sorted times in milliseconds."""
    times, next = [], time.monotonic()
    while not until():
        start = time.monotonic()
        client.socket.sendall(b'{"id":1,"method":"ping"}\n')
        client.file.readline()
        times.append((time.monotonic() - start) * 1000)
        next = max(next + 0.001, time.monotonic() - 0.1)
        time.sleep(max(0, next - time.monotonic()))
    return sorted(times)


def part(times, p):
    return times[min(len(times) - 1, int(len(times) * p / 100))]


def alone(client):
    end = time.monotonic() + 5
    return pings(client, lambda: time.monotonic() > end)


def beside(client, work):
    thread = threading.Thread(target=work)
    thread.start()
    return pings(client, lambda: not thread.is_alive())


def branch():
    target = home + "/branch.db"
    subprocess.run([binderd, "--branch", target, "--journal", journal, "--progress", "none"], check=True,
                   stdout=subprocess.DEVNULL)
    for name in os.listdir(home):
        if name.startswith("branch.db"):
            os.unlink(home + "/" + name)


def spin():
    """A program that only computes, with the priority of a branch: what any other program costs a client."""
    with subprocess.Popen(["nice", "-n", "10", sys.executable, "-c", "while True: pass"]) as program:
        time.sleep(5)
        program.kill()


def attempt():
    # A client of its own: its user runs one trial at a time.
    value = Client().call(
        "bindings.try", expr="cells/k7 | length ~> cells/tried", since={"seq": 0}, limit=1)["value"]
    tried.append((value["events"], value["milliseconds"], value.get("stopped")))


def shown(name, all, base=None):
    p50, p99, most = (sorted(part(times, p) for times in all)[len(all) // 2] for p in (50, 99, 100))
    ratio = f" · {p99 / base:.2f} times" if base else ""
    print(f"{name:18} p50 {p50:.3f} ms · p99 {p99:.3f} ms{ratio} · max {most:.2f} ms", flush=True)
    return p99


tried = []
with running(binderd) as daemon:
    client = Filler()
    for start in range(0, events, 100_000):
        client.fill(min(100_000, events - start))
    time.sleep(5)
    size = sum(os.stat(journal + end).st_size for end in ("", "-wal", "-tail1", "-tail2") if os.path.exists(journal + end))
    print(f"{events} events, {size >> 20} MiB", flush=True)
    found = {"alone": [], "spin": [], "branch": [], "try": []}
    seconds = []
    for _ in range(rounds):
        found["alone"].append(alone(client))
        found["spin"].append(beside(client, spin))
        start = time.monotonic()
        found["branch"].append(beside(client, branch))
        seconds.append(time.monotonic() - start)
        found["try"].append(beside(client, attempt))
    base = shown("pings alone", found["alone"])
    shown("beside a program", found["spin"], base)
    shown("beside a branch", found["branch"], base)
    shown("beside a trial", found["try"], base)
    print(f"a branch takes {sorted(seconds)[rounds // 2]:.1f} s; a trial reads {tried[0][0]} events in "
          f"{sorted(one[1] for one in tried)[rounds // 2] / 1000:.1f} s" + (f", stopped: {tried[0][2]}" if tried[0][2] else ""))
