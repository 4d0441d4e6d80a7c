"""Reads the results of tests from the output of a job."""

import json
import os
import re
from dataclasses import dataclass


@dataclass
class Outcome:
    test: str  # for example `locks.bats: one holder at a time`
    state: str  # `passed`, `failed` or `skipped`
    seconds: float = 0
    reason: str = ""
    pattern: str = ""  # for `Scripts/test --only`


TAP = re.compile(r"^(not )?ok \d+ (.*?)(?: # in (\d+) ms| in (\d+)ms)?(?: # skip ?(.*?))?(?: # in (\d+) ms| in (\d+)ms)?$")


def outcomes(job):
    """Returns the outcome of each test of a job that has ended."""
    if job.form == "tap":
        found = from_tap(lines(job.log), os.path.basename(job.command[-1]))
    elif job.form == "events":
        found = from_events(lines(job.events) if os.path.exists(job.events) else [])
    else:
        found = []
    failed = any(one.state == "failed" for one in found)
    if job.status == 0 and not found and job.form == "status":
        found = [Outcome(job.name, "passed", job.seconds)]
    elif (job.status != 0 and not failed) or not found:
        # The program died, or no test ran at all.
        found.append(Outcome(job.name, "failed", job.seconds, tail(job)))
    return found


def lines(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read().split("\n")


def from_tap(text, file):
    found = []
    for line in text:
        match = TAP.match(line)
        if match:
            bad, name, *times = match.groups()
            skip = times.pop(2)
            taken = next((int(one) / 1000 for one in times if one), 0)
            state = "failed" if bad else "skipped" if skip is not None else "passed"
            found.append(Outcome(f"{file}: {name}", state, taken, skip or "", f"{file}: {re.escape(name)}$"))
        elif line.startswith("# ") and found and found[-1].state == "failed":
            found[-1].reason += line[2:] + "\n"
    return found


def from_events(text):
    """Reads the event stream of Swift Testing: a line of JSON for each event."""
    names, begun, faults, found = {}, {}, {}, []
    for line in text:
        if not line:
            continue
        try:
            record = json.loads(line)
        except ValueError:
            continue  # the last line, if the program died while it wrote it
        payload = record["payload"]
        if record["kind"] == "test":
            if payload["kind"] == "function":
                names[payload["id"]] = payload.get("displayName") or payload["name"].strip("`")
            continue
        test, kind = payload.get("testID"), payload.get("kind")
        if kind == "issueRecorded":
            if not payload.get("issue", {}).get("isKnown") and payload.get("issue", {}).get("isFailure", True):
                faults.setdefault(test, []).append(fault(payload))
        elif test not in names:
            continue
        elif kind == "testStarted":
            begun[test] = payload["instant"]["absolute"]
        elif kind == "testSkipped":
            reason = " ".join(message["text"] for message in payload.get("messages", []))
            found.append(outcome(test, names, "skipped", 0, reason))
        elif kind == "testEnded":
            taken = payload["instant"]["absolute"] - begun.get(test, 0)
            state = "failed" if test in faults else "passed"
            found.append(outcome(test, names, state, taken, "\n".join(faults.pop(test, []))))
    # Issues outside of a test, or of one that did not end.
    for test, reasons in faults.items():
        found.append(outcome(test or "", names, "failed", 0, "\n".join(reasons)))
    return found


def outcome(test, names, state, taken, reason):
    suite = test.split("/")[0]
    identity = re.sub(r"/[^/]*\.swift:\d+:\d+$", "", test)
    return Outcome(f"{suite}: {names.get(test, '')}", state, taken, reason, "^" + re.escape(identity))


def fault(payload):
    """Returns the place of an issue and what it says."""
    place = payload.get("issue", {}).get("sourceLocation") or {}
    where = f"{place['fileID']}:{place['line']}: " if place else ""
    return where + " ".join(message["text"] for message in payload.get("messages", []))


def tail(job):
    """Returns the lines that say why a job failed, or else its last ones."""
    text = [line for line in lines(job.log) if line.strip()]
    telling = [line for line in text if re.search(r"error:|Fatal|Sanitizer|^FAIL|Traceback|fatal:", line)]
    return "\n".join([f"exit status {job.status}"] + (telling[:15] or text[-15:]))
