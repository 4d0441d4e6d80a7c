"""Tests of the runner."""

import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import changes
from job import Job
from outcome import Outcome, from_events, from_tap, outcomes
from plan import Plan, halves
from record import Record
from repeat import repeat


def event(record, **payload):
    return json.dumps({"kind": record, "payload": payload, "version": 0})


def declared(name):
    return event("test", kind="function", id=f"M.S/`{name}`()/S.swift:1:2", name=f"`{name}`()", displayName=name)


def happened(kind, name, seconds, **more):
    return event("event", kind=kind, testID=f"M.S/`{name}`()/S.swift:1:2", instant={"absolute": seconds}, **more)


class TapTests(unittest.TestCase):
    def test_each_state_with_its_time_and_reason(self):
        found = from_tap(
            ["1..3", "ok 1 it works # in 12 ms", "not ok 2 it breaks # in 5 ms", "# (in test file)", "ok 3 it waits # skip no tmux"],
            "a.bats",
        )
        self.assertEqual([one.state for one in found], ["passed", "failed", "skipped"])
        self.assertEqual(found[0].test, "a.bats: it works")
        self.assertEqual(found[0].seconds, 0.012)
        self.assertEqual(found[1].reason, "(in test file)\n")
        self.assertEqual(found[2].reason, "no tmux")


class EventTests(unittest.TestCase):
    def test_a_test_fails_with_its_issues(self):
        place = {"fileID": "M/S.swift", "line": 7}
        issue = {"isKnown": False, "sourceLocation": place}
        found = from_events(
            [
                declared("right"),
                declared("wrong"),
                happened("testStarted", "right", 1),
                happened("testStarted", "wrong", 1),
                happened("issueRecorded", "wrong", 2, issue=issue, messages=[{"text": "1 is not 2"}]),
                happened("testEnded", "wrong", 3),
                happened("testEnded", "right", 4),
                '{"kind":"ev',
            ]
        )
        self.assertEqual([(one.test, one.state, one.seconds) for one in found], [("M.S: wrong", "failed", 2), ("M.S: right", "passed", 3)])
        self.assertEqual(found[0].reason, "M/S.swift:7: 1 is not 2")
        self.assertRegex("M.S/`wrong`()", found[0].pattern)

    def test_an_issue_of_a_test_that_did_not_end_is_a_failure(self):
        found = from_events([declared("wrong"), happened("issueRecorded", "wrong", 2, issue={}, messages=[])])
        self.assertEqual([one.state for one in found], ["failed"])


class JobTests(unittest.TestCase):
    def run_job(self, *command, **options):
        with tempfile.TemporaryDirectory() as directory:
            job = Job("j", "s", list(command), **options)
            job.start(directory)
            while not job.poll():
                pass
            return job, outcomes(job)

    def test_a_command_counts_as_one_test(self):
        self.assertEqual([one.state for one in self.run_job("true")[1]], ["passed"])
        failed = self.run_job("sh", "-c", "echo error: no bulb; exit 3")[1]
        self.assertEqual([(one.state, one.reason) for one in failed], [("failed", "exit status 3\nerror: no bulb")])

    def test_a_program_of_tests_that_runs_none_has_failed(self):
        self.assertEqual([one.state for one in self.run_job("true", form="tap")[1]], ["failed"])

    def test_a_program_that_dies_has_failed_though_its_tests_passed(self):
        found = self.run_job("sh", "-c", "echo ok 1 fine; kill -SEGV $$", form="tap")[1]
        self.assertEqual([one.state for one in found], ["passed", "failed"])

    def test_a_job_that_takes_too_long_is_ended_with_what_it_started(self):
        job, found = self.run_job("sh", "-c", "sleep 1000 & echo $! ; wait", limit=0.2)
        self.assertEqual(found[0].state, "failed")
        self.assertIn("ended after 0 s", found[0].reason)

    def test_what_a_job_leaves_behind_is_ended(self):
        job, _ = self.run_job("sh", "-c", "sleep 1000 & exit 0")
        with self.assertRaises(ProcessLookupError):
            # Its group has no process that still runs, at the latest when the zombie is gone.
            while True:
                os.killpg(job.process.pid, 0)


class RecordTests(unittest.TestCase):
    def test_tests_that_fail_twice_are_named(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "record")
            Record(path).add(["user"], {"user a": 3.5}, 10, [["user", "a: x", "a: x$"], ["user", "a: y", "a: y$"]])
            Record(path).add(["user"], {"user a": 4.5}, 10, [["user", "a: x", "a: x$"]])
            record = Record(path)
            self.assertEqual(record.unsteady(), [("user: a: x", 2)])
            record.add(["user"], {"user a": 4.5}, 10, [["user", "a: x", "a: x$"]], [["user", "a: y", "a: y$"]])
            self.assertEqual(record.unsteady(), [("user: a: x", 3), ("user: a: y", 2)])
            self.assertEqual(record.failed_last(), [["user", "a: x", "a: x$"]])
            self.assertEqual(record.seconds("user a", 0), 4.5)
            self.assertEqual(record.tests(["user"]), 10)
            for _ in range(100):
                record.add(["user"], {}, 10, [])
            self.assertEqual(Record(path).unsteady(), [])


class RepeatTests(unittest.TestCase):
    def states(self, count=1, step="suites", pattern="t", again="passed", other="t"):
        failed = [(Job("j", step, ["true"]), Outcome("t", "failed", pattern=pattern)) for _ in range(count)]
        repeat(failed, lambda job, one: [Outcome(other, again)] if again else [])
        return {one.state for _, one in failed}

    def test_a_test_that_passes_alone_is_unsteady(self):
        self.assertEqual(self.states(), {"unsteady"})
        self.assertEqual(self.states(count=2), {"unsteady"})

    def test_what_fails_again_or_has_another_cause_stays_failed(self):
        self.assertEqual(self.states(again="failed"), {"failed"})
        self.assertEqual(self.states(again="skipped"), {"failed"})
        self.assertEqual(self.states(again=None), {"failed"})
        self.assertEqual(self.states(other="u"), {"failed"})
        self.assertEqual(self.states(count=3), {"failed"})
        self.assertEqual(self.states(pattern=""), {"failed"}, "a program that died")
        for step in ["lint", "programs", "address", "thread", "units", "histories"]:
            self.assertEqual(self.states(step=step), {"failed"}, step)


class PlanTests(unittest.TestCase):
    def test_a_pattern_selects_the_files_and_tests_of_a_step(self):
        plan = Plan({"user": r"locks\.bats: "})
        plan.add_step("user")
        self.assertEqual([job.name for job in plan.jobs if job.step == "user"], ["user locks.bats"])

    def test_every_bats_file_is_in_one_step(self):
        plan = Plan()
        for step in ["user", "systemd", "without-apps", "own-daemon"]:
            plan.add_step(step)
        files = [job.command[-1] for job in plan.jobs if job.form == "tap"]
        self.assertEqual(sorted(files), sorted("Tests/bats/" + name for name in os.listdir("Tests/bats") if name.endswith(".bats")))

    def test_halves_have_every_suite_once(self):
        suites = [name for name in os.listdir("Tests") if name.endswith("Tests")]
        self.assertEqual(sorted(sum(halves(suites), [])), sorted(suites))


class ChangesTests(unittest.TestCase):
    def test_a_target_depends_on_those_below_it(self):
        targets = {name: {"dependencies": [{"byName": [one, None]} for one in below]} for name, below in {"a": "b", "b": "c", "c": "", "d": ""}.items()}
        self.assertEqual(changes.below("a", targets), {"a", "b", "c"})

    def test_the_order_of_traits_is_no_change(self):
        def package(*traits):
            return changes.ordered({"name": "p", "traits": [{"name": name} for name in traits]})

        self.assertEqual(package("a", "b"), package("b", "a"))
        self.assertNotEqual(package("a"), package("b"))


if __name__ == "__main__":
    unittest.main()
