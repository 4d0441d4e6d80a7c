"""Tells a test that is red by chance from one that fails."""

# A sanitizer reports what a fast machine would not show, and a release is not made by a second try.
STEPS = {"suites", "user", "systemd"}
# So many may be due to a busy machine. More have a cause.
MOST = 2


def repeat(failed, run_alone):
    """Runs each failed test again, alone, if they are few. One that passes now is unsteady: it does not fail the run.

    failed: pairs of a job and an outcome. run_alone: takes such a pair, and returns the outcomes of the new run.
    A program that died has no test to repeat, and has failed.
    """
    if len(failed) > MOST:
        return
    for job, one in failed:
        if job.step in STEPS and one.pattern:
            found = run_alone(job, one)
            if [other.test for other in found] == [one.test] and found[0].state == "passed":
                one.state = "unsteady"
