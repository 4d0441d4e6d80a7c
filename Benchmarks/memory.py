"""Measures the memory that one user can fill; `Scripts/bench memory` runs it with a binderd, as root.

For each kind of item a user fills the quota `memory_user` over many connections, in a daemon of its own. The
table compares the memory that an item takes with the bytes that the user is charged for it. In the last row
one user fills every quota at once; the daemon must stay below MemoryHigh of its unit, and serve others.

    memory.py BINDERD [ROW…]    only the rows whose names begin so
"""
import json, os, resource, subprocess, sys, time, traceback

from daemon import connect, home, running

binderd = sys.argv[1]
USER, QUOTA, MEMORY_HIGH = 4001, 8 << 20, 1 << 30
os.chmod(home, 0o755)
resource.setrlimit(resource.RLIMIT_NOFILE, (20_000, 20_000))


def configure(**limits):
    with open(home + "/binder.conf", "w") as file:
        json.dump({
            "socket_mode": "0666", "limits": limits,
            "roles": [{"name": "all", "users": [USER], "methods": ["**"], "read": ["**"], "write": ["**"]}],
        }, file)


class Client:
    def __init__(self):
        self.socket = connect()
        self.file = self.socket.makefile("rb")

    def send(self, *requests):
        self.socket.sendall(b"".join(
            json.dumps({"id": i, "method": m, "params": p}).encode() + b"\n" for i, (m, p) in enumerate(requests)))

    def answers(self, count):
        answers = []
        while len(answers) < count:
            line = self.file.readline()
            if not line:
                raise OSError("the daemon has closed the connection")
            answer = json.loads(line)
            if "id" in answer:
                answers.append(answer)
        return answers

    def call(self, method, params=None):
        self.send((method, params or {}))
        return self.answers(1)[0]


def resident(pid, name="VmRSS"):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith(name))


WORDS = [f"w{i:04}" for i in range(40)]
FILTER = {"types": ["cells.set"], "where": [{"path": "/value/part", "op": "in", "value": WORDS}]}
SCANS = " | ".join(["scan(max, 100)"] * 15)
LIST = "(" + ",".join(f"cells/q{i}" for i in range(32)) + ")"

# The items of one connection: the request of the n-th one, and how many a connection may have.
items = {
    "subscription to a cell": (250, lambda c, i: ("subscribe", {"source": "cells/a"})),
    "subscription to a list": (250, lambda c, i: ("subscribe", {"source": "lists/l"})),
    "every change of a cell": (250, lambda c, i: ("subscribe", {"source": "cells/a", "mode": "every"})),
    "pattern with pick of 200 bytes": (
        250, lambda c, i: ("subscribe", {"source": f"cells/*/{c}", "pick": "/" * 200})),
    "subscription with min_interval_ms": (
        250, lambda c, i: ("subscribe", {"source": "cells/a", "min_interval_ms": 1000, "pick": f"/p{c}"})),
    "reader of events": (250, lambda c, i: ("subscribe", {"source": "events"})),
    "reader with a filter of cost 41": (
        250, lambda c, i: ("subscribe", {"source": "events", "filter": dict(FILTER, streams=[f"cells/{c}"])})),
    "wait": (60, lambda c, i: ("wait", {"source": "cells/a", "value": c})),
    "wait for one of 60 values": (
        60, lambda c, i: ("wait", {"source": "cells/a", "path": f"/{c}", "op": "in", "value": list(range(60))})),
    "binding": (60, lambda c, i: ("bind", {"expr": f"cells/a ~> cells/o{c}-{i}"})),
    "binding of 32 sources": (60, lambda c, i: ("bind", {"expr": f"{LIST} | sum ~> cells/o{c}-{i}"})),
    "binding with 15 operators": (60, lambda c, i: ("bind", {"expr": f"cells/a | {SCANS} ~> cells/o{c}-{i}"})),
    "binding at a time": (60, lambda c, i: ("bind", {"expr": f'every("23:{i % 60:02}") | constant(1) ~> cells/o{c}-{i}'})),
    "view todo": (60, lambda c, i: ("open", {"binder": "todo"})),
    "view chat": (30, lambda c, i: ("open", {"binder": "chat"})),
    "view people": (60, lambda c, i: ("open", {"binder": "people"})),
    "view system": (60, lambda c, i: ("open", {"binder": "system"})),
    "view search": (60, lambda c, i: ("open", {"binder": "search"})),
    "provider": (60, lambda c, i: ("provide", {"service": f"p{i}", "methods": {"m": {}}})),
}


def fill(kind, clients):
    """Makes items on new connections until the daemon refuses one; returns their number."""
    most, make = items[kind]
    made = 0
    while True:
        client = Client()
        clients.append(client)
        requests = [make(len(clients), i) for i in range(most)]
        client.send(*requests, ("ping", {}))
        # A wait is not answered yet.
        ended = {}
        while most not in ended:
            line = client.file.readline()
            if not line:
                return made
            answer = json.loads(line)
            if "id" in answer:
                ended[answer["id"]] = answer
        refused = [a for a in ended.values() if "error" in a]
        made += most - len(refused)
        if refused:
            names = {a["error"]["data"].get("limit", a["error"]["data"]["name"]) for a in refused}
            return made if names == {"memory_user"} else f"{made}, {names}: {refused[0]}"


def as_user(work):
    """Runs a function as another user in a process of its own, and returns what it returns."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(USER)
            os.setuid(USER)
            with os.fdopen(writer, "w") as out:
                def done(result):
                    out.write(json.dumps(result) + "\n")
                    out.flush()
                work(done)
                time.sleep(3600)
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(1)
    os.close(writer)
    line = os.fdopen(reader).readline()
    return child, json.loads(line) if line else None


def end(child):
    os.kill(child, 9)
    os.waitpid(child, 0)


def prepare():
    owner = Client()
    owner.call("cells.set", {"name": "a", "value": 1})
    owner.call("lists.append", {"name": "l", "value": 1})
    for i in range(32):
        owner.call("cells.set", {"name": f"q{i}", "value": i})
    return owner


def daemon():
    return running(binderd, "--config", home + "/binder.conf", stderr=subprocess.DEVNULL)


def row(kind):
    configure(memory_user=QUOTA if kind != "provider" else QUOTA // 16)
    with daemon() as process:
        prepare()
        # The first item of a kind makes what all share.
        def work(done):
            clients = []
            made = fill(kind, clients)
            charged = clients[0].call("stats")["result"]["usage"]["memory_user"]
            done((made, charged, len(clients)))
        before = resident(process.pid)
        child, result = as_user(work)
        try:
            made, charged, connections = result
            used = resident(process.pid) - before
            if isinstance(made, str):
                return f"| {kind} | {made} | | | |"
            return (f"| {kind} | {made} | {charged / max(made, 1) / 1024:.1f} | {used / max(made, 1) / 1024:.1f} | "
                    f"{'ok' if used <= charged + (connections + 400) * 4096 else '**short**'} |")
        finally:
            end(child)


def everything():
    """Fills every quota as one user, and returns the peak memory and the answer time of others."""
    configure()
    with daemon() as process:
        owner = prepare()

        def work(done):
            clients = []
            # Items of all kinds, until the quota is full; then connections.
            probe, kinds, usage = Client(), list(items), {"memory_user": 0}
            while usage["memory_user"] < (127 << 20) and len(clients) < 4000:
                for kind in kinds:
                    most, make = items[kind]
                    client = Client()
                    clients.append(client)
                    client.send(*(make(len(clients), i) for i in range(min(most, 24))))
                usage = probe.call("stats")["result"]["usage"]
            while len(clients) < 4990:
                clients.append(Client())
            # The state, in values and in names.
            value, n = "x" * 250_000, 0
            while True:
                answer = probe.call("cells.set", {"name": f"big/{n}", "value": value})
                if "error" in answer:
                    break
                n += 1
            # Output that nobody takes, and lines without end.
            for client in clients[:400]:
                try:
                    client.send(("hello", {"limits": {"line": 1 << 20}}), *[("get", {"source": "cells/big/0"})] * 6)
                except OSError:
                    pass  # it did not read for too long
            for client in clients[400:900]:
                try:
                    client.socket.setblocking(False)
                    client.socket.send(b'{"id":1,"method":"ping","params":{"x":"' + b"y" * 150_000)
                except OSError:
                    pass
            done((len(clients) + 1, probe.call("stats")["result"]["usage"]))

        child, result = as_user(work)
        try:
            times = []
            for _ in range(50):
                start = time.perf_counter()
                owner.call("cells.set", {"name": "b", "value": 1})
                times.append(time.perf_counter() - start)
            peak = resident(process.pid, "VmHWM")
            connections, usage = result
            print(f"usage of the user with {connections} connections: {usage}", file=sys.stderr)
            ok = peak < MEMORY_HIGH
            return (f"| every quota of one user | {connections} connections | | {peak >> 20} MiB | "
                    f"{'ok' if ok else '**short**'} |\n\n"
                    f"A write of another user beside it took {sorted(times)[25] * 1e3:.1f} ms, "
                    f"{max(times) * 1e3:.1f} ms at most.")
        finally:
            end(child)


if os.getuid() != 0:
    sys.exit("memory.py: only root can become another user")
wanted = sys.argv[2:]
print("| item | number | charged (KiB each) | memory (KiB each) | |")
print("|---|---|---|---|---|")
for kind in items:
    if not wanted or kind.startswith(tuple(wanted)):
        print(row(kind), flush=True)
if not wanted or "all" in wanted:
    print(everything())
