"""Measures binder-web and its page; `Scripts/bench web` runs it with the directory of the programs.

The first row is in headless Chromium: 100 sources on a board change ten times a second each. After two
seconds, it times each change from the moment at which a plain watcher on the socket has it, which is
when it is durable, until the picture with it is drawn. The second row unfolds a tree of 10,000 sources, scrolls through it
and changes them, and reports the longest time for which the page did not react. The third row is the
memory of binder-web for each of 500 browsers that watch these sources.
"""

import json
import os
import pathlib
import statistics
import sys
import threading
import time

root = pathlib.Path(__file__).resolve().parents[1]
os.environ["BINDERD_BIN"] = sys.argv[1]
sys.path.insert(0, str(root / "Tests/web"))

from browser import Browser  # noqa: E402
from support import Lines, Place, Session, WebSocket, eventually  # noqa: E402

seconds = float(os.environ.get("SECONDS_EACH", "10"))
warm_up = 2  # seconds, in which the browser compiles the page
sources, rate = 100, 10
many = 10_000
browsers = 500


class Writer:
    """Sets cells on one connection, without waiting for each answer."""

    def __init__(self, place):
        self.lines = Lines(place.socket)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while self.lines.file.readline():
            pass

    def set(self, values):
        self.lines.socket.sendall(b"".join(
            json.dumps({"id": 1, "method": "set", "params": {"source": source, "value": value}}).encode() + b"\n"
            for source, value in values))


def watch(place, seen, is_over):
    """Notes when each value is durable: then a plain watcher has it."""
    with Lines(place.socket) as lines:
        lines.call("subscribe", {"source": "cells/bench/*", "sub": "w", "distinct": False})
        for line in lines.file:
            now = time.time() * 1000
            params = json.loads(line).get("params", {})
            if isinstance(params.get("value"), (int, float)):
                seen[params["source"], params["value"]] = now
            if is_over.is_set():
                return


def work(browser):
    """Returns the time in milliseconds that the page has worked so far, by kind; little of it depends on what else runs."""
    figures = {figure["name"]: figure["value"] for figure in browser.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]}
    kinds = {"script": "ScriptDuration", "style": "RecalcStyleDuration", "layout": "LayoutDuration", "in all": "TaskDuration"}
    return {kind: figures[name] * 1000 for kind, name in kinds.items()}


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def latency(place, browser):
    names = [f"cells/bench/s{i:03}" for i in range(sources)]
    writer = Writer(place)
    writer.set((name, 0) for name in names)
    place.call("set", {"source": "cells/boards/bench", "value": {"tiles": [{"source": name} for name in names]}})
    browser.go("boards/bench")
    browser.eventually(lambda: len(browser.all(".tile .value")) == sources, what="the board")
    seen, is_over = {}, threading.Event()
    threading.Thread(target=watch, args=(place, seen, is_over), daemon=True).start()
    browser.run("""
        window.drawn = [];
        binder.store.addEventListener('values', ({names}) => {
            const values = [...names].map((name) => [name, binder.store.entries.get(name)?.value]);
            // This is a callback of a frame, so a message comes after its picture is drawn.
            const channel = new MessageChannel();
            channel.port1.onmessage = () => {
                const now = performance.timeOrigin + performance.now();
                for (const [name, value] of values) drawn.push([name, value, now]);
            };
            channel.port2.postMessage(0);
        });""")
    browser.driver.execute_cdp_cmd("Performance.enable", {})
    begin, turn, number = time.monotonic(), 0, 0
    while time.monotonic() - begin < warm_up + seconds:
        if turn == warm_up * rate * rate:
            first = number + 1
            before = work(browser)
        # Spread evenly: a tenth of the sources every hundredth of a second.
        number += 1
        writer.set((names[i], number) for i in range(turn % rate, sources, rate))
        turn += 1
        time.sleep(max(0, begin + turn / (rate * rate) - time.monotonic()))
    after = work(browser)
    time.sleep(1)
    is_over.set()
    drawn = {}
    for name, value, now in browser.run("return drawn"):
        drawn.setdefault((name, value), now)
    times = [now - seen[key] for key, now in drawn.items() if key in seen and key[1] >= first]
    changes = (turn - warm_up * rate * rate) * sources // rate
    print(f"{sources} sources, {rate} changes/s each: {changes} changes, {len(times)} drawn; durable until drawn:"
          f" p50 {quantile(times, 0.5):.0f} ms · p99 {quantile(times, 0.99):.0f} ms · max {max(times):.0f} ms", flush=True)
    print("  work of the page for a change:" + "".join(f" · {kind} {(after[kind] - before[kind]) * 1000 / changes:.0f} µs" for kind in after), flush=True)


def tree(place, browser):
    writer = Writer(place)
    for start in range(0, many, 500):
        writer.set((f"cells/many/g{i // 100:03}/s{i:05}", i) for i in range(start, start + 500))
    eventually(lambda: place.call("ping")["last"] >= many, 30)
    browser.driver.get(browser.host)
    browser.run("""
        localStorage.setItem('binder.unfolded', JSON.stringify(['cells', 'cells/many', ...Array.from({length: 100}, (_, i) => `cells/many/g${String(i).padStart(3, '0')}`)]))""")
    browser.go("sources")
    script = browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
        window.longest = {};
        window.part = 'load';
        let last = performance.now();
        const channel = new MessageChannel();
        channel.port1.onmessage = () => {
            const now = performance.now();
            longest[part] = Math.max(longest[part] ?? 0, now - last);
            last = now;
            setTimeout(() => channel.port2.postMessage(0));
        };
        channel.port2.postMessage(0);"""})["identifier"]
    browser.driver.refresh()
    browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", {"identifier": script})
    browser.eventually(lambda: browser.state == "online" and browser.run("return binder.store.entries.size") >= many, 30)
    browser.eventually(lambda: browser.run("return document.querySelectorAll('.row').length") > 10)
    time.sleep(1)
    browser.go("boards")
    time.sleep(0.5)
    browser.run("part = 'open'")
    browser.go("sources")
    time.sleep(1)
    browser.run("""
        part = 'scroll';
        const tree = document.querySelector('.tree');
        let top = 0;
        const step = () => { top += 900; tree.scrollTop = top; if (top < tree.scrollHeight) requestAnimationFrame(step); };
        step();""")
    time.sleep(8)
    browser.run("part = 'change'; document.querySelector('.tree').scrollTop = 5000")
    for turn in range(20):
        writer.set((f"cells/many/g{i // 100:03}/s{i:05}", i + turn) for i in range(turn % 10, many, 10))
        time.sleep(0.2)
    browser.run("part = 'names'")
    for turn in range(20):
        writer.set((f"cells/many/new/s{turn:02}{i:02}", i) for i in range(50))
        time.sleep(0.2)
    browser.run("part = 'filter'; const field = document.querySelector('[type=search]'); field.value = 's0777'; field.dispatchEvent(new Event('input'))")
    time.sleep(1)
    longest = browser.run("return longest")
    rows = browser.run("return document.querySelectorAll('.row').length")
    print(f"{many} sources in the tree, {rows} rows after the filter; the longest time without a reaction:"
          + "".join(f" · {part} {time:.0f} ms" for part, time in longest.items()), flush=True)


def memory(place):
    session = Session(place.another_address())
    status = f"/proc/{place.web.pid}/smaps_rollup"

    def measure():
        with open(status) as file:
            figures = dict(line.split(":") for line in file if ":" in line and "kB" in line)
        return {name: int(figures[name].split()[0]) for name in ("Rss", "Private_Dirty")}

    first = WebSocket.of(session)
    first.call("ping")
    time.sleep(1)
    before = measure()
    sockets = []
    for _ in range(browsers):
        web_socket = WebSocket.of(session)
        web_socket.call("hello", {"client": {"name": "browser"}, "limits": {"line": 8 << 20}})
        web_socket.send({"id": 2, "method": "subscribe", "params": {"source": "cells/bench/*", "sub": "s"}})
        web_socket.line()
        sockets.append(web_socket)
    writer = Writer(place)
    for turn in range(10):
        writer.set((f"cells/bench/s{i:03}", turn) for i in range(sources))
        for web_socket in sockets:
            for _ in range(sources):
                while "value" not in web_socket.line().get("params", {}):
                    pass
    time.sleep(1)
    after = measure()
    each = {name: (after[name] - before[name]) / browsers for name in before}
    print(f"{browsers} browsers that watch {sources} sources: {each['Rss']:.1f} KiB each (private dirty {each['Private_Dirty']:.1f} KiB);"
          f" binder-web alone {before['Rss'] / 1024:.1f} MiB", flush=True)
    for web_socket in sockets:
        web_socket.close()


place = Place()
try:
    place.start_daemon()
    browser = Browser(place.start_web())
    try:
        rows = sys.argv[2:] or ["latency", "tree", "memory"]
        if "latency" in rows:
            latency(place, browser)
        if "tree" in rows:
            tree(place, browser)
    finally:
        browser.close()
    if "memory" in rows:
        memory(place)
finally:
    place.close()
