"""What bad clients cost the others: `Scripts/bench faults` runs this with a binderd.

One client asks for `ping` and sets a cell, one request after the other, and its answers are timed: beside
nobody, beside a good client that asks as fast as it is answered, and beside each of the inputs 1 to 14 of
the faults, sent as fast as they are taken. Every client is a process of its own.
"""
import gc, os, resource, socket, subprocess, sys, time

from daemon import connect, running

binderd, seconds = sys.argv[1], float(os.environ.get("SECONDS_EACH", "2"))
rounds = int(os.environ.get("ROUNDS", "5"))


def call(file, client, line):
    client.sendall(line)
    answer = file.readline()
    if b'"result"' not in answer:
        raise SystemExit(f"the good client was answered {answer!r}")


def probe(client):
    """Times of answers, in microseconds: of pings, of commits."""
    file, times, end = client.makefile("rb"), ([], []), time.monotonic() + seconds
    lines = (b'{"id":1,"method":"ping"}\n', b'{"id":1,"method":"cells.set","params":["probe",1]}\n')
    while time.monotonic() < end:
        # Twenty pings for each commit: they are as many in the same time.
        for kind in [0] * 20 + [1]:
            start = time.perf_counter()
            call(file, client, lines[kind])
            times[kind].append((time.perf_counter() - start) * 1e6)
    return [[sorted(t)[int(len(t) * p)] for p in (0.5, 0.99)] for t in times]


# What follows never ends: it is killed. Each is one round of a bad client.


def send(client, data, taken=True):
    """Sends, and takes what comes back, until all is sent or the daemon hangs up."""
    client.setblocking(False)
    view = memoryview(data)
    while view:
        try:
            view = view[client.send(view):]
        except BlockingIOError:
            if taken:
                try:
                    if not client.recv(1 << 20):
                        return
                except BlockingIOError:
                    pass
            time.sleep(0)


def said(data):
    """Sends and listens to the end."""
    client = connect()
    try:
        send(client, data)
        client.shutdown(socket.SHUT_WR)
        client.settimeout(1)
        while client.recv(1 << 20):
            pass
    except OSError:
        pass
    client.close()


kept = []


def loris():
    if len(kept) < 1000:
        kept.extend(connect() for _ in range(1000))
    for client in kept:
        try:
            client.send(b'"')
        except OSError:
            kept[kept.index(client)] = connect()
    time.sleep(0.1)


def half_closed():
    for end in (b'{"id":1,"method":"ping"}', b'{"id":1,"meth', b'{"id":1,"method":"subscribe","params":["events"]}\n'):
        client = connect()
        client.send(end)
        client.shutdown(socket.SHUT_WR)
        client.close()


def never_reads():
    client = connect()
    subscribe = b"".join(
        b'{"id":1,"method":"subscribe","params":{"source":"%s","mode":"every"}}\n' % source
        for source in [b"cells/**", b"cells/n", b"events"] * 30)
    try:
        send(client, subscribe, taken=False)
        while True:
            send(client, b'{"method":"cells.add","params":["n"]}\n' * 100, taken=False)
    except OSError:
        client.close()


def bomb():
    pair = (b'{"id":1,"method":"subscribe","params":{"source":"cells/probe","sub":"s"}}\n'
            b'{"id":2,"method":"unsubscribe","params":["s"]}\n')
    said(pair * 2000)


def crowd():
    while len(kept) < 3000:
        kept.append(connect())
    for _ in range(200):
        connect().close()


def storm():
    for _ in range(200):
        client = connect()
        client.send(b'{"id":1,"method":"subscribe","params":["cells/**"]}\n{"id":2,')
        client.close()


def history():
    """Reads every event again and again, as fast as they come."""
    client = connect()
    client.send(b'{"id":1,"method":"subscribe","params":{"source":"events","from":{"after":0}}}\n')
    rest = b""
    while b'"caught_up"' not in rest:
        rest = rest[-200:] + client.recv(1 << 20)
    client.close()


noise = b'1\nnull\n[]\n[[]]\n{"jsonrpc":"2.0","result":1,"id":1}\nGET / HTTP/1.1\n\x16\x03\x01\x02\x00\n'
beside = {
    "nobody": None,
    "a good client": lambda: said(b'{"id":1,"method":"ping"}\n' * 20_000),
    "a good writer": lambda: said(b'{"id":1,"method":"cells.add","params":["n"]}\n' * 5_000),
    "a good reader": history,
    "1: a GiB without LF": lambda: said(b"a" * (17 << 20)),
    "2: a thousand that dribble": loris,
    "3: bytes that are no UTF-8": lambda: said(b'{"id":1,"method":"\xc0\xaf\xed\xa0\x80"}\n' * 15),
    "4: lone surrogates": lambda: said(b'{"id":1,"method":"\\ud800"}\n' * 15),
    "5: NUL": lambda: said(b'{"id":1,"method":"pi\0ng"}\n' * 15),
    "6: deep nesting": lambda: said((b"[" * 100_000 + b"\n") * 15),
    "7: a million members": lambda: said(
        (b"{" + b",".join(b'"k%d":1' % i for i in range(60_000)) + b"}\n") * 15),
    "8: numbers": lambda: said((b'{"id":1,"method":"ping","params":[%s]}\n' % (b"9" * 10_000)) * 15),
    "9: no requests": lambda: said(noise),
    "10: half-closed": half_closed,
    "11: one that never reads": never_reads,
    "12: subscribe, unsubscribe": bomb,
    "13: more than are let in": crowd,
    "14: a storm of clients": storm,
}


def forked(work):
    """A process that does the work over and over."""
    child = os.fork()
    if child:
        return child
    try:
        # The daemon says it is full by hanging up; that is what is measured.
        while True:
            try:
                work()
            except OSError:
                pass
    finally:
        os._exit(1)


def measured(work):
    client = connect()  # before the others: it is in
    child = forked(work) if work else None
    if child:
        time.sleep(0.5)
    try:
        return probe(client)
    finally:
        client.close()
        if child:
            os.kill(child, 9)
            os.waitpid(child, 0)
            time.sleep(0.5)


gc.disable()
resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))


def limited():
    resource.setrlimit(resource.RLIMIT_NOFILE, (2048, 2048))


with running(binderd, preexec_fn=limited, stderr=subprocess.DEVNULL):
    found = {name: [] for name in beside}
    for _ in range(rounds):
        for name, work in beside.items():
            found[name].append(measured(work))

    def median(name, kind, part):
        values = sorted(times[kind][part] for times in found[name])
        return values[len(values) // 2]

    print("| beside | ping p50 (us) | p99 | ratio | commit p50 (us) | p99 | ratio |")
    print("|---|---|---|---|---|---|---|")
    for name in beside:
        cells = [name]
        for kind in (0, 1):
            p99 = median(name, kind, 1)
            good = max(median(other, kind, 1) for other in beside if other.startswith("a good"))
            cells += [f"{median(name, kind, 0):,.0f}", f"{p99:,.0f}", f"{p99 / good:.2f}"]
        print("| " + " | ".join(cells) + " |")
