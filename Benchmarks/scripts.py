#!/usr/bin/env python3
"""Measures a command of a service in a file beside `cells.add`: the processor time of the daemon.

usage: scripts.py BINDERD     CALLS=20000 ROUNDS=5

The command reads two rows and writes two. Both are sent 32 at a time on one connection, in turn, to one daemon.
"""
import json
import os
import shutil
import statistics
import sys
import tempfile

from daemon import connect, processor_time, rest, running

binderd = sys.argv[1]
calls, rounds = int(os.environ.get("CALLS", "20000")), int(os.environ.get("ROUNDS", "5"))
SERVICE = """service("stock", "The things in boxes.")
local boxes = rows("stock/*", "The number of things in a box.")
on.moved = function(e)
  boxes[e.from] = { n = e.n }
  boxes[e.to] = { n = e.m }
end
command.move = { "Moves a thing from a box to another one.", from = "text", to = "text", run = function(p)
  local from, to = boxes[p.from] or { n = 0 }, boxes[p.to] or { n = 0 }
  record("moved", { from = p.from, to = p.to, n = from.n - 1, m = to.n + 1 })
end }
"""
METHODS = {
    "`cells.add`": lambda i: {"id": i, "method": "cells.add", "params": {"name": f"c{i % 100}"}},
    "a command in Lua": lambda i: {"id": i, "method": "stock.move", "params": {"from": f"b{i % 100}", "to": f"b{(i + 1) % 100}"}},
}


def cost(daemon, client, request):
    """Returns the processor time of the daemon for a call in microseconds."""
    file = client.makefile("rb")
    lines = [json.dumps(request(i)).encode() + b"\n" for i in range(calls)]
    rest(daemon)
    begin = processor_time(daemon)
    for i in range(0, calls, 32):
        client.sendall(b"".join(lines[i:i + 32]))
        for _ in lines[i:i + 32]:
            answer = file.readline()
            if b'"result"' not in answer:
                sys.exit(f"the daemon answered {answer!r}")
    rest(daemon)
    return (processor_time(daemon) - begin) * 1e6 / calls


directory = tempfile.mkdtemp(dir=os.environ.get("TMPDIR", "/var/tmp"))
try:
    os.mkdir(directory + "/service.d")
    with open(directory + "/service.d/stock.service", "w", encoding="utf-8") as file:
        file.write(SERVICE)
    with open(directory + "/binder.conf", "w", encoding="utf-8") as file:
        file.write("{}")
    found = {name: [] for name in METHODS}
    with running(binderd, "--config", directory + "/binder.conf") as daemon:
        client = connect()
        for _ in range(rounds):
            for name, request in METHODS.items():
                found[name].append(cost(daemon, client, request))
finally:
    shutil.rmtree(directory)
more = statistics.median(found["a command in Lua"]) - statistics.median(found["`cells.add`"])
print("| processor time for a call (us) | median | least and most |")
print("|---|---|---|")
for name, times in found.items():
    print(f"| {name} | {statistics.median(times):.2f} | {min(times):.2f} to {max(times):.2f} |")
print(f"| more for the command in Lua, wanted at most 5 | {more:.2f} | |")
