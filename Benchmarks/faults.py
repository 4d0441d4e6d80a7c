"""Measures how much bad clients delay the others; `Scripts/bench faults` runs it with a binderd.

A probe sends `ping` and `cells.set`, one request at a time, and measures the response times: alone, beside
good clients that work as fast as the daemon answers, and beside bad ones. The rows 1 to 14 are the faults
of Tests/README.md; the rows R1 to R46 are inputs found by reviews. The work of a row runs in a process of
its own, as fast as the daemon accepts it. The column "turn" is the longest turn of the loop in processor
time, measured apart, without the probe; the column "memory" is the peak memory of the daemon.

    faults.py BINDERD [ROW…]    only the rows whose names begin so, and the good clients
"""
import gc, json, mmap, os, resource, socket, struct, subprocess, sys, tempfile, time

from daemon import connect, home, running

binderd, seconds = sys.argv[1], float(os.environ.get("SECONDS_EACH", "2"))
rounds = int(os.environ.get("ROUNDS", "5"))


def call(file, client, line):
    client.sendall(line)
    answer = file.readline()
    if b'"result"' not in answer:
        raise SystemExit(f"the good client was answered {answer!r}")


def probe(client):
    """Returns p50 and p99 of the response times in microseconds: of pings, and of commits."""
    file, times, end = client.makefile("rb"), ([], []), time.monotonic() + seconds
    lines = (b'{"id":1,"method":"ping"}\n', b'{"id":1,"method":"cells.set","params":["probe",1]}\n')
    while time.monotonic() < end:
        # Twenty pings take about as long as one commit.
        for kind in [0] * 20 + [1]:
            start = time.perf_counter()
            call(file, client, lines[kind])
            times[kind].append((time.perf_counter() - start) * 1e6)
    return [[sorted(t)[int(len(t) * p)] for p in (0.5, 0.99)] for t in times]


# turns.c writes the longest turn into this file, from within the daemon.
turns_file = tempfile.NamedTemporaryFile()
turns_file.write(bytes(8))
turns_file.flush()
turns = mmap.mmap(turns_file.fileno(), 8)


def longest_turn():
    """Returns the processor time of the longest turn in ms, as turns.c measures it in the daemon."""
    turns[:] = bytes(8)
    time.sleep(seconds)
    return struct.unpack("=Q", turns[:])[0] / 1e6


# The work of the rows. Each function is one round; the process repeats it until it is killed.


def send(client, data, taken=True):
    """Sends all data, or until the daemon closes the connection; reads answers if `taken`."""
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
    """Sends on a new connection, then reads until the daemon closes it."""
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
    """Reads all events of the journal."""
    client = connect()
    client.send(b'{"id":1,"method":"subscribe","params":{"source":"events","from":{"after":0}}}\n')
    rest = b""
    while b'"caught_up"' not in rest:
        rest = rest[-200:] + client.recv(1 << 20)
    client.close()


def lines(*requests):
    """Returns (method, params) pairs as lines; without an id if the method begins with a space."""
    return b"".join(
        json.dumps({"method": method.strip(), "params": params} | ({} if method[0] == " " else {"id": 1}),
                   separators=(",", ":")).encode() + b"\n"
        for method, params in requests)


def batch(*requests):
    return b"[" + lines(*requests).strip().replace(b"\n", b",") + b"]\n"


def asked(data, count, client=None):
    """Sends requests, reads `count` lines, and returns the client."""
    client = client or connect()
    client.sendall(data)
    file = client.makefile("rb")
    for _ in range(count):
        file.readline()
    return client


WIDE = ("hello", {"limits": {"line": 16 << 20}})


# Data that some rows need; each is prepared in a new daemon.


def long_names():
    names = ["%02d%s%02d" % (i % 50, "m" * 184, i // 50) for i in range(2000)]
    asked(lines(*((" cells.set", [n, 1]) for n in names)) + lines(("ping", [])), 1)


def big_cells():
    asked(lines(*(("cells.set", [f"big/{i}", "x" * 250_000]) for i in range(60))), 60)


def people():
    for i in range(80):
        asked(lines(*(("people.create", {"name": f"p{i}-{k}"}) for k in range(100))), 100)


def many_cells():
    for i in range(100):
        asked(lines(*(("cells.set", [f"c{i}-{k}", k]) for k in range(1000))), 1000)


def chain():
    clients = [
        asked(lines(*(("bind", {"expr": f"cells/k{i * 64 + k} ~> cells/k{i * 64 + k + 1}"})
                      for k in range(64))), 64)
        for i in range(80)]
    kept.extend(clients)


def token():
    client = asked(lines(("users.log_in", {"name": "bench"})), 1)
    client.sendall(lines(("users.token", {})))
    kept.append(json.loads(client.makefile("rb").readline())["result"]["value"].split(".")[0])


def cells_in_folders():
    for i in range(0, 60_000, 600):
        asked(lines(*((" cells.set", [f"b{i}/c{k}", "v" * 150]) for k in range(600))) + lines(("ping", [])), 1).close()


def declared():
    properties = {f"property{i}": {"type": "integer"} for i in range(60)}
    methods = {
        f"m{k}": {"doc": "Does " + "much " * 20, "params": {"type": "object", "properties": properties}}
        for k in range(60)}
    for i in range(15):
        kept.append(asked(lines(("provide", {"service": f"s{i}", "methods": methods})), 1))


def atomic(calls):
    return lines(("atomic", {"calls": [{"method": method, "params": params} for method, params in calls]}))


def many_people():
    for i in range(10):
        asked(atomic([("people.create", {"name": "p" * 90}) for _ in range(1000)]), 1).close()


def long_list():
    for i in range(20):
        asked(atomic([("lists.append", ["long", k]) for k in range(1000)]), 1).close()


def longest_list():
    for i in range(400):
        asked(atomic([("lists.append", ["long", k]) for k in range(1000)]), 1).close()


def longest_map():
    for i in range(200):
        asked(atomic([("maps.put", ["long", f"k{i * 1000 + k}", k]) for k in range(1000)]), 1).close()


def long_map():
    for i in range(20):
        asked(atomic([("maps.put", ["long", f"key{i}-{k}", k]) for k in range(1000)]), 1).close()


def program():
    words = list(range(11_000))
    schema = {"properties": {"v": {"type": "array", "items": {"enum": words}}}}
    kept.append(asked(lines(("provide", {"service": "words", "methods": {"m": {"params": schema}}})), 1))


def part_cell():
    asked(lines(("cells.set", ["parts", {"x": 0}]), ("cells.set", ["h", 0])), 2).close()


def lock_holders():
    """Lets 100 clients hold and await the same 40 locks."""
    for _ in range(100):
        client = connect()
        client.sendall(lines(*(("locks.acquire", {"name": f"k{k}"}) for k in range(40))))
        kept.append(client)
    time.sleep(0.5)


# The work of the rows R1 to R46.


def guesses():
    said(batch(*(("get", [f"cells/{'x' * 2}{'m' * 184}{i:02}"]) for i in range(256))))


def long_lines():
    """Requests nearly as much as fits into a line, ten times, and reads it."""
    client = asked(lines(WIDE), 1)
    for _ in range(10):
        asked(lines(("get", ["cells/big/**"])), 1, client)


def long_batch():
    said(lines(WIDE) + batch(*(("get", ["cells/big/**"]) for _ in range(256))))


def long_pasts():
    """Four clients request many long answers at once and read them slowly."""
    if not kept:
        for _ in range(4):
            client = asked(lines(WIDE), 1)
            client.sendall(
                lines(*(("history", {"source": "cells/big/**", "at": {"seq": 60}}) for _ in range(64))))
            kept.append(client)
    for client in kept:
        client.recv(1 << 16)


def partial_lines():
    while len(kept) < 200:
        client = connect()
        client.setblocking(False)
        kept.append(client)
        try:
            client.send(b"a" * 100_000)
        except OSError:
            pass
    for client in kept:
        try:
            client.send(b"a" * 50_000)
        except OSError:
            pass
    time.sleep(0.01)


def subscribed(subscription, count=10_000):
    """Holds `count` subscriptions, 250 per connection."""
    def work():
        if not kept:
            for i in range(0, count, 250):
                kept.append(asked(lines(*(("subscribe", subscription(i + k)) for k in range(250))), 250))
        time.sleep(1)
    return work


def pattern(i):
    return {"source": f"cells/none{i}/*"}


def every(i):
    return {"source": f"cells/none{i}", "mode": "every"}


def events(i):
    return {"source": "events", "filter": {"streams": [f"cells/none{i}"]}}


def condition(i):
    return {"source": "events", "filter": {"where": [{"path": f"/none{i}", "op": "exists"}]}}


def come_and_go():
    subscribed(pattern, 5000)()
    while kept:
        kept.pop().close()


def views():
    """Holds 64 views of 8,000 people, and renames people."""
    if not kept:
        kept.append(asked(lines(WIDE, *(("open", {"binder": "people"}) for _ in range(64))), 65))
        kept.append(connect())
        kept[0].setblocking(False)
    kept[1].sendall(lines(*((" people.rename", [k + 1, f"n{time.monotonic_ns()}"]) for k in range(20))))
    try:
        while kept[0].recv(1 << 20):
            pass
    except BlockingIOError:
        pass


def waits():
    """Waits for 640 missing parts of a long value, and sets that value."""
    long = {"filler": "x" * 250_000}
    if not kept:
        asked(lines(("cells.set", ["long", long])), 1)
        for i in range(10):
            client = connect()
            client.sendall(
                lines(*(("wait", {"source": "cells/long", "path": f"/none{i}-{k}"}) for k in range(64))))
            kept.append(client)
    long["n"] = time.monotonic_ns()
    asked(lines(("cells.set", ["long", long])), 1).close()


def unnumbered():
    client = connect()
    try:
        send(client, lines((" cells.add", ["n"])) * 65_000, taken=False)
    except OSError:
        pass
    client.close()


def at_the_head():
    said(batch(*(("bind", {"expr": "cells/none ~> cells/k0", "binding": f"b{i}"}) for i in range(60)),
               *(("unbind", {"binding": f"b{i}"}) for i in range(60))))


def wrong_tokens():
    said(batch(*(("users.log_in", {"token": kept[0] + "." + "0" * 32}) for _ in range(256))))


def failing_atomics():
    calls = [{"method": "cells.set", "params": ["a", 1]}, {"method": "cells.toggle", "params": ["a"]}]
    said(lines(*(("atomic", {"calls": calls}) for _ in range(100))))


def conditions():
    """Waits 256 times, each for one of 60 values, and sets another value 1,000 times."""
    if not kept:
        for _ in range(4):
            kept.append(connect())
            kept[-1].sendall(lines(*(
                ("wait", {"source": "cells/h", "op": "in", "value": list(range(-60, 0))}) for _ in range(64))))
    calls = [{"method": "cells.set", "params": ["h", k]} for k in range(1000)]
    asked(lines(("atomic", {"calls": calls})), 1).close()


def bound():
    """Binds 2,560 cells to one, and sets that 100 times."""
    if not kept:
        for i in range(40):
            kept.append(asked(lines(*(("bind", {"expr": f"cells/h ~> cells/o/{i}/{k}"}) for k in range(64))), 64))
    start = time.monotonic_ns()
    calls = [{"method": "cells.set", "params": ["h", start + k]} for k in range(100)]
    asked(lines(("atomic", {"calls": calls})), 1).close()


def filtered():
    """Holds 8,000 readers with a filter that no event passes, and sets a cell."""
    some = {"types": ["cells.*"], "where": [{"path": "/value", "op": "in", "value": list(range(-60, 0))}]}
    if not kept:
        for _ in range(40):
            kept.append(asked(lines(*(("subscribe", {"source": "events", "filter": some}) for _ in range(200))), 200))
    asked(lines(("cells.set", ["h", 1])), 1).close()


def whole(method, params):
    """Requests one long answer after another."""
    def work():
        client = asked(lines(WIDE), 1)
        for _ in range(10):
            asked(lines((method, params)), 1, client)
        client.close()
    return work


def wills():
    """Connects 150 clients with wills of 100 calls, and disconnects them together."""
    clients = []
    for i in range(150):
        calls = [{"method": "cells.set", "params": [f"w{i}/{k}", 1]} for k in range(100)]
        clients.append(asked(lines(("will", {"calls": calls})), 1))
    for client in clients:
        client.close()


def parts(more):
    """Holds 5,000 subscriptions to different parts of a value, and sets it 1,000 times at once."""
    calls = [("cells.set", ["parts", {"x": k}]) for k in range(1000)]

    def work():
        subscribed(lambda i: {"pick": f"/p{i}"} | more, 5000)() if not kept else None
        asked(atomic(calls), 1).close()
    return work


def filters():
    """Holds 1,000 readers with different filters, all of which want a cell, and sets it 1,000 times at once."""
    if not kept:
        subscribed(lambda i: {"source": "events", "filter": {"streams": ["cells/h", f"cells/none{i}"]}}, 1000)()
    asked(atomic([("cells.set", ["h", k]) for k in range(1000)]), 1).close()


def patterns():
    """Holds the 128 patterns that match the longest name, and sets it 1,000 times at once."""
    def pattern(i):
        return {"source": "cells/" + "/".join("*" if i >> k & 1 else "s" for k in range(7))}
    if not kept:
        kept.append(asked(lines(*(("subscribe", pattern(i)) for i in range(128))), 128))
    asked(atomic([("cells.set", ["s" + "/s" * 6, k]) for k in range(1000)]), 1).close()


def open_people():
    client = asked(lines(WIDE, ("open", {"binder": "people"})), 2)
    client.close()


def open_patterns():
    """Opens a view with 60 patterns of 600 cells each."""
    text = "\n".join(['view "All."'] + [f"cells/b{i * 600}/* ~> rows{i}" for i in range(60)])
    asked(lines(WIDE, ("open", {"text": text})), 2).close()


def fold_changes():
    """Gives the service of 100,000 rows another fold, and waits until it is in use."""
    folds(2 if kept.pop() == 1 else 1)
    asked(lines(("reload", {})), 1).close()
    while b'"folding"' in whole_answer("scripts.status"):
        time.sleep(0.02)


def whole_answer(method):
    client = asked(lines(WIDE), 1)
    client.sendall(lines((method, {})))
    answer = client.makefile("rb").readline()
    client.close()
    return answer


def folds(factor):
    """Writes the service of many rows, whose fold multiplies each value."""
    with open(services + "/board.service", "w", encoding="utf-8") as file:
        file.write(f"""service("board", "Many rows.")
local cells = rows("board/*", "A cell.")
on.filled = function(e) for i = e.from, e.from + 99 do cells["k" .. i] = {{ n = i * {factor} }} end end
command.fill = {{ "Fills 100 cells.", from = "integer", run = function(p) record("filled", p) end }}
""")
    kept.append(factor)


def many_rows():
    folds(1)
    asked(lines(("reload", {})), 1).close()
    asked(lines(*(("board.fill", [i]) for i in range(0, 100_000, 100))), 1000).close()


def watched_rows():
    """Fills the service of many rows, which a client watches that takes no output."""
    many_rows()
    watcher = asked(lines(WIDE), 1)
    watcher.sendall(lines(("subscribe", {"source": "board/*"})))
    watcher.recv(1)
    kept.insert(0, watcher)


def open_map():
    asked(lines(WIDE, ("open", {"text": 'view "All."\nmaps/long ~> rows'})), 2).close()


def list_sum():
    """Binds the sum of a long list, and changes the list 10 times."""
    client = asked(lines(("bind", {"expr": "lists/long | sum ~> cells/sum"})), 1)
    for _ in range(10):
        asked(lines(("lists.update", ["long", 0, 1])), 1, client)
        time.sleep(0.05)
    client.close()


def cell_sum():
    """Binds the sum of a long array of a cell, and changes the cell 10 times."""
    client = asked(lines(WIDE, ("bind", {"expr": "cells/long | sum ~> cells/sum"})), 2)
    for i in range(10):
        asked(lines(("cells.set", ["long", [i + 0.5] * 60_000])), 1, client)
        time.sleep(0.1)
    client.close()


def done():
    """Adds, finishes and removes 1,000 things to do."""
    asked(atomic([("todo.add", ["x" * 190]) for _ in range(1000)]), 1).close()
    client = asked(lines(WIDE), 1)
    client.sendall(lines(("todo.list", {})))
    things = json.loads(client.makefile("rb").readline())["result"]["value"]
    client.close()
    asked(atomic([("todo.finish", [thing["id"]]) for thing in things[:1000]]), 1).close()
    asked(lines(("todo.clear_done", {})), 1).close()


def binders_leave():
    """Connects 50 clients with 64 bindings of lists, and disconnects them together."""
    clients = []
    for i in range(50):
        clients.append(asked(lines(*(
            ("bind", {"expr": f"(cells/h,cells/g) | sum ~> cells/l/{i}/{k}"}) for k in range(64))), 64))
    for client in clients:
        client.close()


def holders_leave():
    lock_holders()
    while kept:
        kept.pop().close()


def again(*requests):
    """Sends the same requests again and again."""
    data = b"".join(requests)

    def work():
        client = asked(lines(WIDE), 1)
        for _ in range(10):
            asked(data, len(requests), client)
        client.close()
    return work


values = atomic([("cells.set", [f"n{k}", "x" * 900]) for k in range(1000)])
insertions = atomic([("lists.insert", ["long", 0, k]) for k in range(1000)])
removals = atomic([("lists.remove", ["long", 0]) for _ in range(1000)])
noise = b'1\nnull\n[]\n[[]]\n{"jsonrpc":"2.0","result":1,"id":1}\nGET / HTTP/1.1\n\x16\x03\x01\x02\x00\n'
beside = {
    "nobody": None,
    "a good client": lambda: said(b'{"id":1,"method":"ping"}\n' * 20_000),
    "a good writer": lambda: said(b'{"id":1,"method":"cells.add","params":["n"]}\n' * 5_000),
    "a good reader": history,
    "a good reader of long lines": (big_cells, long_lines),
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
    "R1: guesses at long names": (long_names, guesses),
    "R2: a batch of long answers": (big_cells, long_batch),
    "R3: long answers out of order": (big_cells, long_pasts),
    "R4: 200 long lines without end": partial_lines,
    "R5: 10,000 patterns of nothing": subscribed(pattern),
    "R6: 10,000 readers of every nothing": subscribed(every),
    "R7: 10,000 readers of no stream": subscribed(events),
    "R8: 2,500 conditions that never hold": subscribed(condition, 2500),
    "R9: 5,000 subscriptions come and go": come_and_go,
    "R10: 64 views of 8,000 people": (people, views),
    "R11: 640 waits for parts": waits,
    "R12: commands without an id": unnumbered,
    "R13: at the head of 5,120 bindings": (chain, at_the_head),
    "R14: wrong tokens": (token, wrong_tokens),
    "R15: atomics that fail": (many_cells, failing_atomics),
    "R16: 256 waits, 1,000 sets at once": conditions,
    "R17: 2,560 bindings of one cell": bound,
    "R18: 8,000 filtered readers": filtered,
    "R19: 60,000 cells in one line": (cells_in_folders, whole("get", ["cells/**"])),
    "R20: 900 methods described": (declared, whole("rpc.discover", {})),
    "R21: 150 wills that run together": wills,
    "R22: a list of 10,000 people": (many_people, whole("people.list", {})),
    "R23: 1,000 values in an atomic": again(values),
    "R24: 1,000 insertions in a list": (long_list, again(insertions, removals)),
    "R25: a list of 20,000": (long_list, whole("get", ["lists/long"])),
    "R26: a map of 20,000": (long_map, whole("get", ["maps/long"])),
    "R27: a list is replaced": again(lines(("lists.replace", ["r", [1] * 20_000]))),
    "R28: 1,000 things are done": done,
    "R29: a call with 11,000 parts": (program, again(lines(("words.m", {"v": [9999] * 11_000 + [-1]})))),
    "R30: 50 clients with bindings leave": binders_leave,
    "R31: 100 clients with locks leave": holders_leave,
    "R32: an array of 120,000 numbers": again(
        lines(("cells.set", ["a", [1] * 120_000])), lines(("cells.set", ["a", [2] * 120_000]))),
    "R33: 5,000 parts of a cell": (part_cell, parts({"source": "cells/parts"})),
    "R34: 5,000 parts in a pattern": (part_cell, parts({"source": "cells/*"})),
    "R35: 5,000 parts in mode every": (part_cell, parts({"source": "cells/parts", "mode": "every"})),
    "R36: 1,000 filters want an event": (part_cell, filters),
    "R37: 128 patterns match a name": (part_cell, patterns),
    "R38: a view of 10,000 people opens": (many_people, open_people),
    "R39: a view of 60 patterns opens": (cells_in_folders, open_patterns),
    "R40: a fold of 100,000 rows changes": (many_rows, fold_changes),
    "R41: a list of 400,000": (longest_list, whole("get", ["lists/long"])),
    "R42: a map of 200,000": (longest_map, whole("subscribe", ["maps/long"])),
    "R43: a binding of a list of 400,000": (longest_list, list_sum),
    "R44: a view of a map of 200,000 opens": (longest_map, open_map),
    "R45: a fold of 100,000 watched rows changes": (watched_rows, fold_changes),
    "R46: a binding of an array of 60,000": cell_sum,
}
wanted = sys.argv[2:]
if wanted:
    beside = {
        name: work for name, work in beside.items()
        if name.startswith(("nobody", "a good", *wanted))}


def forked(work):
    """Starts a process that repeats the work until this one ends, and returns its id."""
    parent, child = os.getpid(), os.fork()
    if child:
        return child
    try:
        # The daemon closes connections when it is full; that is part of the measurement.
        while os.getppid() == parent:
            try:
                work()
            except OSError:
                pass
    finally:
        os._exit(1)


def measured(daemon, work):
    with open(f"/proc/{daemon.pid}/clear_refs", "w") as file:
        file.write("5")  # resets the peak memory
    client = connect()  # before the others, so that it is accepted
    child = forked(work) if work else None
    try:
        if child:
            time.sleep(0.5)
        times = probe(client)
        turn = longest_turn()
    finally:
        client.close()
        if child:
            os.kill(child, 9)
            os.waitpid(child, 0)
            time.sleep(0.5)
    with open(f"/proc/{daemon.pid}/status") as file:
        memory = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    return times + [memory, turn]


gc.disable()
resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))


def limited():
    resource.setrlimit(resource.RLIMIT_NOFILE, (2048, 2048))


# Everybody may use the daemon, so that a bystander can be another user.
directory = tempfile.TemporaryDirectory()
services = directory.name + "/service.d"
os.mkdir(services)
configuration = open(directory.name + "/binder.conf", "w", encoding="utf-8")
json.dump({
    "socket_mode": "0666",
    "roles": [{"name": "user", "users": ["*"], "methods": ["**"], "read": ["**"], "write": ["**"]}],
}, configuration)
configuration.flush()
os.chmod(home, 0o711)


def daemon():
    return running(
        binderd, "--config", configuration.name, preexec_fn=limited, stderr=subprocess.DEVNULL,
        env=os.environ | {"LD_PRELOAD": os.environ["TURNS_LIBRARY"], "TURNS": turns_file.name})


def measured_alone(prepare, work):
    """Measures in a new daemon with prepared data."""
    with daemon() as process:
        prepare()
        times = measured(process, work)
        while kept:
            client = kept.pop()
            if isinstance(client, socket.socket):
                client.close()
    return times


found = {name: [] for name in beside}
for _ in range(rounds):
    with daemon() as process:
        for name, work in beside.items():
            if not isinstance(work, tuple):
                found[name].append(measured(process, work))
    for name, work in beside.items():
        if isinstance(work, tuple):
            found[name].append(measured_alone(*work))


def median(values):
    return sorted(values)[len(values) // 2]


def time_of(name, kind, part):
    return median([times[kind][part] for times in found[name]])


def ratio(name, kind):
    """Returns the median over the rounds of the p99 relative to the highest p99 beside a good client."""
    good = [found[other] for other in beside if other.startswith("a good")]
    return median([
        found[name][i][kind][1] / max(times[i][kind][1] for times in good) for i in range(rounds)])


print("| beside | ping p50 (us) | p99 | ratio | commit p50 (us) | p99 | ratio | memory (MiB) | turn (ms) |")
print("|---|---|---|---|---|---|---|---|---|")
for name in beside:
    cells = [name]
    for kind in (0, 1):
        cells += [f"{time_of(name, kind, part):,.0f}" for part in (0, 1)]
        cells.append(f"{ratio(name, kind):.2f}")
    cells.append(f"{median([times[2] for times in found[name]]) / 1024:,.0f}")
    cells.append(f"{median([times[3] for times in found[name]]):.1f}")
    print("| " + " | ".join(cells) + " |")
