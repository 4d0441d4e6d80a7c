#!/usr/bin/env python3
"""Measures equal views of a long list beside subscriptions to the row that changes.

usage: views.py BINDERD     VIEWERS=1000 ROWS=10000 CHANGES=200 ROUNDS=5

Each round has a new daemon. All viewers open the same view of a file, and hear of each change of one row;
then as many clients subscribe to the cell of that row. The columns are the processor time of the daemon for a
change, and the memory that a viewer costs.
"""
import json
import os
import select
import statistics
import sys
import time

from daemon import connect, processor_time, rest, running

binderd = sys.argv[1]
viewers, rows = int(os.environ.get("VIEWERS", "1000")), int(os.environ.get("ROWS", "10000"))
changes, rounds = int(os.environ.get("CHANGES", "200")), int(os.environ.get("ROUNDS", "5"))
OPEN = {"id": 1, "method": "open", "params": {"text": 'view "Rows."\ncells/row/* ~> rows\n'}}
HELLO = b'{"id":0,"method":"hello","params":{"limits":{"line":16777216}}}\n'


def memory(daemon):
    """Returns the private memory in KiB."""
    with open(f"/proc/{daemon.pid}/smaps_rollup", encoding="ascii") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("Private_"))


class Watchers:
    """Clients that have asked for the same."""

    def __init__(self, request, until):
        """Waits until each has everything that is there: its answer, or the text `until`."""
        self.clients = {}
        self.poll = select.poll()
        for _ in range(viewers):
            client = connect()
            client.sendall(HELLO + request)
            self.clients[client.fileno()] = client
            self.poll.register(client, select.POLLIN)
        self.hear(until)

    def hear(self, wanted):
        """Waits until each has received a text."""
        left = {descriptor: b"" for descriptor in self.clients}
        while left:
            ready = self.poll.poll(60_000)
            if not ready:
                sys.exit(f"{len(left)} clients miss {wanted}")
            for descriptor, _ in ready:
                data = self.clients[descriptor].recv(1 << 20)
                if not data:
                    sys.exit("the daemon has closed a connection")
                if descriptor in left:
                    rest = left[descriptor] + data
                    if wanted in rest:
                        del left[descriptor]
                    else:
                        left[descriptor] = rest[-len(wanted):]

    def drain(self, daemon):
        """Reads until the daemon has nothing to say."""
        while True:
            ready = self.poll.poll(300)
            if not ready:
                return rest(daemon)
            for descriptor, _ in ready:
                self.clients[descriptor].recv(1 << 20)

    def close(self):
        for client in self.clients.values():
            client.close()


def measured(daemon, writer, watchers, first):
    """Returns the microseconds of processor time for a change that all have heard of."""
    start = processor_time(daemon)
    for i in range(first, first + changes):
        writer.sendall(b'{"id":1,"method":"cells.set","params":["row/r5000",%d]}\n' % i)
        writer.recv(65536)
        watchers.hear(b"%d" % i)
    return (processor_time(daemon) - start) / changes * 1e6


def a_round():
    with running(binderd, "--durability", "os") as daemon:
        writer = connect()
        for k in range(0, rows, 100):
            writer.sendall(b"".join(
                b'{"id":1,"method":"cells.set","params":["row/r%d",%d]}\n' % (i, i) for i in range(k, k + 100)))
            got = 0
            while got < 100:
                got += writer.recv(65536).count(b"\n")
        found = []
        for request, until in (
            (json.dumps(OPEN).encode() + b"\n", f'"r{rows - 1}"'.encode()),
            (b'{"id":1,"method":"subscribe","params":["cells/row/r5000"]}\n', b'"id":1,'),
        ):
            before = memory(daemon)
            watchers = Watchers(request, until)
            watchers.drain(daemon)
            found.append((measured(daemon, writer, watchers, 700_000 + len(found) * 100_000), (memory(daemon) - before) / viewers))
            watchers.close()
        writer.close()
        return found


results = [a_round() for _ in range(rounds)]
view, plain = ([statistics.median(found[i][part] for found in results) for part in (0, 1)] for i in (0, 1))
ratio = statistics.median(found[0][0] / found[1][0] for found in results)
print(f"{viewers:,} viewers of {rows:,} rows, one row changes; medians of {rounds} rounds of {changes} changes")
print("| | processor time for a change (us) | ratio | memory of a viewer (KiB) |")
print("|---|---|---|---|")
print(f"| a view of all rows | {view[0]:,.0f} | {ratio:.2f}, at most 2 | {view[1]:,.1f} |")
print(f"| a subscription to the row | {plain[0]:,.0f} | | {plain[1]:,.1f} |")
