"""Remembers earlier runs of this tree: how long each job took, and which tests failed."""

import json
import os

RUNS = 100


class Record:
    def __init__(self, path):
        self.path = path
        self.runs = []
        try:
            with open(path, encoding="utf-8") as file:
                self.runs = [json.loads(line) for line in file][-RUNS:]
        except (OSError, ValueError):
            pass

    def seconds(self, job, otherwise):
        """Returns how long a job took when it ran last."""
        for run in reversed(self.runs):
            if job in run["seconds"]:
                return run["seconds"][job]
        return otherwise

    def tests(self, steps):
        """Returns the number of tests when the same steps ran last; 0 if they did not."""
        return next((run["tests"] for run in reversed(self.runs) if run["steps"] == steps), 0)

    def add(self, steps, seconds, tests, failed, unsteady=()):
        """Adds a run. `failed` holds step, name and pattern of each failed test, `unsteady` of each that passed when
        it ran once more."""
        run = dict(steps=steps, seconds=seconds, tests=tests, failed=failed, unsteady=list(unsteady))
        self.runs = (self.runs + [run])[-RUNS:]
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(run) + "\n" for run in self.runs)
        os.replace(self.path + ".new", self.path)

    def failed_last(self):
        """Returns the failed tests of the last run that is not a repeat without a failure."""
        return self.runs[-1]["failed"] if self.runs else []

    def unsteady(self):
        """Returns the tests that failed in at least two runs, with the count."""
        counts = {}
        for run in self.runs:
            for name in {f"{step}: {name}" for step, name, _ in run["failed"] + run.get("unsteady", [])}:
                counts[name] = counts.get(name, 0) + 1
        return sorted((name, count) for name, count in counts.items() if count >= 2)
