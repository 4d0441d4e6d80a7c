"""Measures past values and compaction; `Scripts/bench journal` runs it with a binderd.

It writes EVENTS events over 100,000 cells. Then it times a past value and the past values of a
pattern, and single commits, alone and during a compaction of most events. It also compares the size
of the files before and after.
"""
import os, sys, threading, time

from daemon import Client, journal, running

binderd, events = sys.argv[1], int(os.environ.get("EVENTS", "1500000"))


def milliseconds(call):
    start = time.monotonic()
    call()
    return (time.monotonic() - start) * 1000


def fill(client, first, last):
    """Sets cells, 2,000 requests at a time."""
    size = 2000
    for start in range(first, last, size):
        lines = b"".join(
            b'{"id":1,"method":"cells.set","params":["k%d","%058d"]}\n' % (i % 100_000, i)
            for i in range(start, min(last, start + size)))
        client.socket.sendall(lines)
        for _ in range(start, min(last, start + size)):
            if b'"result"' not in client.file.readline():
                raise SystemExit("a set was refused")


def commits(client, seconds):
    """Returns the sorted times of single commits, one after the other, in milliseconds."""
    times, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        times.append(milliseconds(lambda: client.call("cells.set", name="probe", value=len(times))))
    return sorted(times)


def shown(times):
    return " · ".join(
        f"p{p:g} {times[min(len(times) - 1, int(len(times) * p / 100))]:.2f} ms"
        for p in (50, 99, 99.9)) + f" · max {times[-1]:.2f} ms ({len(times)} commits)"


def size():
    return sum(os.stat(journal + end).st_size for end in ("", "-wal", "-tail1", "-tail2") if os.path.exists(journal + end))


with running(binderd):
    client = Client()
    # Pause between the parts, so that the daemon writes snapshots as in normal use.
    for part in range(0, events, 100_000):
        fill(client, part, min(events, part + 100_000))
        time.sleep(1)
    last = client.call("ping")["last"]
    snapshots = [s["seq"] for s in client.call("journal.info")["value"]["snapshots"]]
    print(f"{last} events, {len(snapshots)} snapshots at {snapshots}")
    back = last - min(1_000_000, last - 1)
    value = [milliseconds(lambda: client.call("history", source="cells/k77", at={"seq": back}))
             for _ in range(5)]
    fold = [milliseconds(lambda: client.call("history", source="cells/none/*", at={"seq": back}))
            for _ in range(5)]
    print(f"a value {last - back} events back: {sorted(value)[2]:.0f} ms")
    print(f"the values of a pattern {last - back} events back: {sorted(fold)[2]:.0f} ms")
    print("commits alone:               " + shown(commits(client, 5)))
    before, done = size(), {}
    other = Client()
    compaction = threading.Thread(
        target=lambda: done.update(other.call("journal.compact", before={"seq": last - 1000})["value"]))
    start = time.monotonic()
    compaction.start()
    times = []
    while compaction.is_alive():
        times += commits(client, 0.2)
    print("commits beside a compaction: " + shown(sorted(times)))
    print(f"{done['removed']} events removed in {done['steps']} steps, the longest {done['longest_step_ms']} ms, "
          f"{time.monotonic() - start:.0f} s")
    after, end = before, time.monotonic() + 60
    while time.monotonic() < end and (after != size() or after == before):
        after = size()
        client.call("cells.set", name="probe", value=0)
        time.sleep(2)
    print(f"files: {before >> 20} MiB before, {after >> 20} MiB after")
