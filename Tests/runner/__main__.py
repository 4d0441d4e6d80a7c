"""Runs the steps that Scripts/test names, and ends with a summary.

Usage: see Scripts/test, which installs what is missing and gives the run a machine of its own.
"""

import argparse
import os
import resource
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import changes
from outcome import outcomes
from plan import GROUPS, OTHERS, STEPS, Plan
from record import Record
from repeat import repeat
from screen import Screen

LOGS = ".build/test"


class Run:
    """One run: its jobs, and what has come of their tests."""

    def __init__(self, steps, only):
        self.steps = steps
        self.record = Record(os.path.join(LOGS, "record"))
        self.plan = Plan(only)
        self.sources = changes.digests() if {"suites", "units"} & set(steps) else {}
        for step in steps:
            self.plan.add_step(step)
        self.jobs = self.plan.jobs
        self.results = {}  # of each job that has ended
        self.screen = Screen()
        self.begun = time.monotonic()
        self.expected = 0 if only else self.record.tests(steps)

    def go(self):
        # One more than there are processors, because many tests wait for something.
        places = (os.cpu_count() or 1) + 1
        waiting, running, reported = list(self.jobs), [], set()
        while waiting or running:
            for job in [job for job in running if job.poll()]:
                running.remove(job)
                self.results[job.name] = outcomes(job)
            for job in self.blocked(waiting):
                waiting.remove(job)
            while len(running) < places and (job := self.next(waiting, running)):
                waiting.remove(job)
                job.start(LOGS)
                running.append(job)
            for step in self.steps:
                if step not in reported and not any(job.step == step for job in waiting + running):
                    reported.add(step)
                    self.report(step)
            self.show(running)
            time.sleep(0.1)
        self.screen.clear()
        if not self.plan.only:
            repeat(self.outcomes("failed"), self.run_alone)

    def run_alone(self, job, one):
        """Runs one test again, and returns what has come of it."""
        self.screen.line(f"again   {job.step}: {one.test}")
        plan = Plan({job.step: one.pattern})
        plan.add_step(job.step)
        found = []
        for again in plan.jobs:
            if again.step == job.step and not again.is_build:
                again.name += " again"
                again.start(LOGS)
                while not again.poll():
                    time.sleep(0.1)
                found += outcomes(again)
        return found

    def outcomes(self, state):
        """Returns the tests with a state, and the job of each."""
        return [(job, one) for job in self.jobs for one in self.results.get(job.name, []) if one.state == state]

    def blocked(self, waiting):
        """Returns the jobs that need one that has failed."""
        bad = {job.name for job in self.jobs if job.status not in (None, 0)}
        return [job for job in waiting if bad & set(job.needs)]

    def next(self, waiting, running):
        """Returns the job to start. One build runs at a time, because each uses all processors; of the tests the
        one that took longest last time begins first."""
        passed = {job.name for job in self.jobs if job.status == 0}
        ready = [job for job in waiting if set(job.needs) <= passed]
        builds = [job for job in ready if job.is_build]
        if builds and not any(job.is_build for job in running):
            return builds[0]
        tests = [job for job in ready if not job.is_build]
        return max(tests, key=lambda job: self.record.seconds(job.name, job.size), default=None)

    def report(self, step):
        jobs = [job for job in self.jobs if job.step == step]
        started = [job for job in jobs if job.begun]
        found = [one for job in jobs for one in self.results.get(job.name, [])]
        seconds = max((job.ended for job in started), default=0) - min((job.begun for job in started), default=0)
        bad = any(one.state == "failed" for one in found)
        if not started:
            reason = "not run, because a build failed" if jobs else "nothing to do"
            self.screen.line(f"-       {step}: {reason}")
            return
        count = sum(one.state == "passed" for one in found)
        self.screen.line(f"{'FAILED ' if bad else 'ok     '} {step}, {count} passed, {seconds:.0f} s")

    def show(self, running):
        count = sum(len(found) for found in self.results.values())
        total = f" of about {self.expected}" if self.expected else ""
        names = ", ".join(f"{job.name} {job.seconds:.0f} s" for job in running)
        self.screen.progress(f"{count}{total} tests, {time.monotonic() - self.begun:.0f} s; {names}")

    def end(self):
        """Prints what failed and why, and returns the exit status."""
        failed, unsteady, skipped = (self.outcomes(state) for state in ("failed", "unsteady", "skipped"))
        for job, one in unsteady + failed:
            self.tell(job, one)
        for _, one in skipped:
            print(f"skipped {one.test}: {one.reason}")
        seconds = {job.name: round(job.seconds, 1) for job in self.jobs if job.begun}
        count = sum(len(found) for found in self.results.values())
        names = [[[job.step, one.test, one.pattern] for job, one in found] for found in (failed, unsteady)]
        self.record.add(self.steps, seconds, count, *names)
        self.remember_suites(failed + unsteady)
        for name, times in self.record.unsteady():
            print(f"unsteady: failed in {times} of the last {len(self.record.runs)} runs: {name}")
        if failed:
            print("all of them again: Scripts/test --failed")
        passed = len(self.outcomes("passed")) + len(unsteady)
        counts = f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped"
        print(f"{counts} in {time.monotonic() - self.begun:.0f} s")
        return 1 if failed or not count else 0

    def tell(self, job, one):
        """Prints why a test failed, and how to repeat it."""
        what = "FAILED  " if one.state == "failed" else "UNSTEADY, it passed when it ran alone: "
        print(f"\n{what}{job.step}: {one.test}")
        for line in one.reason.rstrip("\n").split("\n")[:25]:
            print("        " + line[:300])
        print(f"        output: {job.log}")
        print("        again:  Scripts/test " + (f"--only {quoted(one.pattern)} " if one.pattern else "") + job.step)

    def remember_suites(self, failed):
        """Notes which suites need not run again until something changes."""
        if self.plan.only or not self.sources or any(job.step in ("suites", "units") for job, _ in failed):
            return
        jobs = [job for job in self.jobs if job.step in ("suites", "units") and job.form == "events"]
        suites = {one.test.split(".")[0] for job in jobs for one in self.results.get(job.name, [])}
        changes.remember(suites, self.sources)


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def clean_inheritance():
    """Makes signals, limits and variables those of a fresh login."""
    for number in (signal.SIGCHLD, signal.SIGHUP, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    os.umask(0o022)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(hard, 65536), max(hard, 65536)))
    except (ValueError, OSError):  # only some may raise it
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    for name in list(os.environ):
        if name.startswith(("BINDER_", "XDG_", "LISTEN_", "CLICOLOR", "NOTIFY_SOCKET", "NO_COLOR")):
            del os.environ[name]


def main():
    parser = argparse.ArgumentParser(prog="Scripts/test", add_help=False)
    parser.add_argument("--only", metavar="PATTERN")
    parser.add_argument("--failed", action="store_true")
    parser.add_argument("steps", nargs="*")
    options = parser.parse_args()
    known = STEPS + OTHERS + [step for group in GROUPS.values() for step in group]
    steps = [step for name in options.steps for step in GROUPS.get(name, [name])]
    for step in steps:
        if step not in known:
            parser.exit(64, f"Scripts/test: no step '{step}'; there are {', '.join(known + list(GROUPS))}\n")
    clean_inheritance()
    os.makedirs(LOGS, exist_ok=True)
    only = {}
    if options.failed:
        again = Record(os.path.join(LOGS, "record")).failed_last()
        steps = list(dict.fromkeys(step for step, _, _ in again))
        if not steps:
            print("the last run had no failure")
            return 0
        for step in steps:
            patterns = [pattern for of, _, pattern in again if of == step]
            if all(patterns):
                only[step] = "|".join(patterns)
    steps = steps or STEPS
    if options.only:
        only = {step: options.only for step in steps}
    run = Run(steps, only)
    if not run.jobs:
        print("no test of these steps matches")
        return 1
    try:
        run.go()
    except KeyboardInterrupt:
        for job in run.jobs:
            if job.process and job.status is None:
                job.kill()
        return 130
    return run.end()


sys.exit(main())
