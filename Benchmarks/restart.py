#!/usr/bin/env python3
"""Measures a restart with clients that a service manager keeps: the time until each hears the next change.

usage: restart.py BINDERD [CLIENTS]     1,000 clients by default; ROUNDS=5, for a restart and a kill each

The time runs from the signal that ends the daemon. A client writes a value as soon as it can; the others watch it.
Fails if a client loses its connection, or misses a value.
"""
import json
import os
import pathlib
import select
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

root = pathlib.Path(__file__).resolve().parent.parent
binderd, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000
rounds = int(os.environ.get("ROUNDS", "5"))


def connect(path):
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    return client


def lines(manager, prefix):
    """Returns the rest of the next line of the manager with a prefix."""
    for line in manager.stdout:
        if line.startswith(prefix):
            return line[len(prefix):].strip()
    sys.exit("the manager has ended")


def hear(watchers, value):
    """Waits until each watcher has a value; returns the time of the last."""
    wanted = f'"value":{value}'.encode()
    left = {client.fileno(): [client, b""] for client in watchers}
    poll = select.poll()
    for descriptor in left:
        poll.register(descriptor, select.POLLIN)
    end = time.monotonic() + 30
    while left:
        for descriptor, _ in poll.poll(1000):
            entry = left[descriptor]
            data = entry[0].recv(65536)
            if not data:
                sys.exit("a client has lost its connection")
            entry[1] += data
            if wanted in entry[1]:
                poll.unregister(descriptor)
                del left[descriptor]
        if time.monotonic() > end:
            sys.exit(f"{len(left)} clients miss the value {value}")
    return time.monotonic()


with tempfile.TemporaryDirectory() as place:
    path = f"{place}/bus.sock"
    manager = subprocess.Popen(
        [root / "Tests/systemd/service-manager", path, "--store", str(2 * count + 64), "--", binderd, "--journal",
         f"{place}/journal.db"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1)
    pid = int(lines(manager, "started"))
    lines(manager, "ready")
    watchers = []
    for _ in range(count):
        client = connect(path)
        client.sendall(b'{"id":1,"method":"subscribe","params":["cells/a"]}\n')
        watchers.append(client)
    for client in watchers:
        client.recv(65536)
    for _ in range(count):
        lines(manager, "stored")
    time.sleep(2)
    value = 0
    for name, end in ("restart", signal.SIGTERM), ("kill -9", signal.SIGKILL):
        times = []
        for _ in range(rounds):
            value += 1
            begin = time.monotonic()
            if end == signal.SIGKILL:
                os.kill(pid, end)
            else:
                manager.send_signal(signal.SIGUSR1)
            pid = int(lines(manager, "started"))
            writer = connect(path)
            writer.sendall(json.dumps({"id": 1, "method": "cells.set", "params": ["a", value]}).encode() + b"\n")
            times.append((hear(watchers, value) - begin) * 1000)
            writer.close()
            time.sleep(2)
        print(f"{name}, {count} watching clients: the last one has the next change after "
              f"{statistics.median(times):.0f} ms (median of {rounds}, longest {max(times):.0f}); target 500")
    manager.send_signal(signal.SIGTERM)
    manager.wait(30)
