#!/usr/bin/python3
"""The driver of the command line: it follows sources and events with `bindctl`; `run` describes its lines.

It shows what bindctl prints, in the form of the other drivers. Cursors and acknowledgements are not its own.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

#: The errors of other drivers by the exit code of bindctl.
ERRORS = {3: "ConnectionFailed", 5: "DaemonError", 6: "ConnectionLost"}


def show(answer):
    print(json.dumps(answer), flush=True)


def command(source, options):
    """The words of bindctl for a subscription."""
    since = ["--since", options["from"]] if "from" in options else []
    if source == "events":
        streams = options.get("filter", {}).get("streams", [])
        return ["events", *streams, "--follow", *(since or ["--since", "now"])]
    every = options.get("min_interval_ms")
    return ["watch", source, *since, *(["--every", f"{every}ms"] if every else [])]


class Watch:
    def __init__(self, source, options):
        self.trace = tempfile.NamedTemporaryFile(prefix="binder-trace-")
        self.process = subprocess.Popen(
            [os.environ["BINDCTL"], "-j", *command(source, options)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, env={**os.environ, "BINDER_TRACE": self.trace.name},
        )
        self.is_live = source == "events" or "from" in options

    def wait(self):
        """Waits until bindctl has subscribed, or has ended."""
        while self.process.poll() is None:
            with open(self.trace.name, encoding="utf-8", errors="replace") as trace:
                if any(line.startswith("<- ") and '"sub":"t0"' in line for line in trace):
                    return
            time.sleep(0.01)

    def next(self):
        """The next update, or the error with which bindctl has ended."""
        present = []
        for line in self.process.stdout:
            update = json.loads(line)
            if update.get("caught_up"):
                self.is_live = True
                if present:
                    return {**present[0], "type": "snapshot"}
                return {"type": "snapshot", "gone": True}
            if self.is_live:
                return {**update, "type": "next"}
            present.append(update)
        return {"error": {"type": ERRORS.get(self.process.wait(), "Error"), "message": ""}}


def main():
    watch = Watch(sys.argv[2], json.loads(sys.argv[3]))
    watch.wait()
    show({"ready": True})
    for _ in sys.stdin:
        update = watch.next()
        show(update)
        if "error" in update:
            return


main()
