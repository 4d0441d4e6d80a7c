"""The steps of a run and their jobs."""

import glob
import os
import re
import shlex
from dataclasses import dataclass

import changes
import lint
from job import Job

BUILD = ["swift", "build", "--build-tests", "--quiet", "--explicit-target-dependency-import-check", "error"]

# A race or a leak ends the affected program, also a daemon that a suite has started.
THREAD = dict(scratch=".build/thread", flags=["--sanitize=thread", "-Xswiftc", "-gline-tables-only"])
ADDRESS = dict(scratch=".build/address", flags=["--sanitize=address", "-Xswiftc", "-gline-tables-only"])
# Failures name file and line also without debug information.
PLAIN = dict(scratch=".build", flags=["-Xswiftc", "-gnone"])

# Freed memory waits in a small quarantine, because tests watch the memory of their own process. Ten
# frames say where memory was allocated; thirty, the default, take a tenth of the time.
ADDRESS_OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=1:quarantine_size_mb=64:malloc_context_size=10",
    "LSAN_OPTIONS": f"suppressions={os.path.abspath('Tests/runner/leaks.txt')}:print_suppressions=0",
}
THREAD_OPTIONS = {"TSAN_OPTIONS": "halt_on_error=1:exitcode=66"}

# The suites with a daemon or a database. The others need no other process.
DAEMON = r"^DaemonTests\."
DATABASE = r"^JournalTests\.Postgres(Mail|Role|Store)Tests"
# The suites of the targets that touch memory by hand.
BY_HAND = r"^(AdaptersTests|BinderWebTests|EventLoopTests|JSONTests|JournalTests|LuaScriptsTests)\."
# The suites of the targets that start threads, and those in which the threads of a daemon meet.
THREADED = (
    r"^(AdaptersTests|EventLoopTests|JournalTests)\."
    r"|^DaemonTests\.(CompactionFault|Feeds|History|JournalFault|KilledCrowd|Reading|Shutdown|SlowDisk|Stats|WebSearch)Tests"
)

STEPS = ["lint", "programs", "suites", "address", "user", "systemd"]
GROUPS = {"quick": ["quick-lint", "units"], "long": ["address-all", "thread", "fuzz", "histories", "without-apps", "own-daemon"]}
OTHERS = ["package"]


class Plan:
    """Makes the jobs of steps. `only` has a pattern for each step of which only some tests run."""

    def __init__(self, only=None):
        self.only = only or {}
        self.jobs = []

    def add_step(self, name):
        getattr(self, "add_" + name.replace("-", "_"))()

    def add(self, name, step, command, **options):
        if all(job.name != name for job in self.jobs):
            self.jobs.append(Job(name, step, command, **options))
        return name

    def add_lint(self):
        for name, command in lint.checks(changed=False):
            self.add(f"lint {name}", "lint", command)

    def add_quick_lint(self):
        for name, command in lint.checks(changed=True):
            self.add(f"quick-lint {name}", "quick-lint", command)

    def add_programs(self):
        return self.add("programs", "programs", ["Scripts/build"])

    def add_suites(self):
        """All suites, in a debug build without a sanitizer."""
        build = self.build("suites", PLAIN)
        self.suites("suites", PLAIN, build, everything())

    def add_units(self):
        """The suites of what has changed since they passed, without a daemon or a database."""
        suites = changes.affected_suites()
        parts = [Part(f"^({'|'.join(half)})\\.", DATABASE) for half in halves(suites)]
        build = self.build("units", PLAIN, targets=",".join(suites))
        self.suites("units", PLAIN, build, dict(zip(("first half", "second half"), parts)))

    def add_address(self):
        """The suites of the targets that touch memory by hand, with the address sanitizer."""
        build = self.build("address", ADDRESS, targets="memory")
        self.suites("address", ADDRESS, build, {"by hand": Part(BY_HAND, DATABASE)}, ADDRESS_OPTIONS)

    def add_address_all(self):
        build = self.build("address-all", ADDRESS)
        self.suites("address-all", ADDRESS, build, everything(), ADDRESS_OPTIONS)

    def add_thread(self):
        """The suites of the targets that start threads, with the thread sanitizer."""
        build = self.build("thread", THREAD, targets="threads")
        parts = {"database": Part(DATABASE, parallel=False), "threads": Part(THREADED, DATABASE)}
        self.suites("thread", THREAD, build, parts, THREAD_OPTIONS)

    def add_fuzz(self):
        """Random lines, bindings, configurations and scripts, for FUZZ_SECONDS each; of scripts a million."""
        build = self.build("address-all", ADDRESS)
        options = {**ADDRESS_OPTIONS, "FUZZ_SECONDS": os.environ.get("FUZZ_SECONDS", "30"), "FUZZ_ALL": "1"}
        self.suites("fuzz", ADDRESS, build, {"random input": Part("FuzzTests")}, options)

    def add_histories(self):
        """Random histories of clients, of many seeds: a rare fault is seen in one of a hundred."""
        build = self.build("suites", PLAIN)
        parts = {"random histories": Part(r"^DaemonTests\.HistoryTests")}
        self.suites("histories", PLAIN, build, parts, {"HISTORIES": os.environ.get("HISTORIES", "60")})

    def add_user(self):
        """The release programs, used as a person uses them."""
        for file in sorted(glob.glob("Tests/bats/*.bats")):
            if os.path.basename(file) not in ("systemd.bats", "without-apps.bats", "own-daemon.bats"):
                self.bats("user", file)

    def add_systemd(self):
        self.bats("systemd", "Tests/bats/systemd.bats")

    def add_own_daemon(self):
        """A package of Scripts/new-daemon. After a change of the engine its build takes minutes."""
        self.bats("own-daemon", "Tests/bats/own-daemon.bats")

    def add_without_apps(self):
        """A daemon that is built without the applications."""
        command = ["swift", "build", "--disable-default-traits", "--product", "binderd", "--quiet"]
        command += ["--scratch-path", ".build/without-apps", "-Xswiftc", "-gnone"]
        build = self.add("without-apps build", "without-apps", command, environment={"BINDERD_TARGETS": "programs"})
        environment = {"BINDERD_BIN": os.path.abspath(".build/bin"), "WITHOUT_APPS": os.path.abspath(".build/without-apps/debug")}
        command = ["bats", "--tap", "--timing", "Tests/bats/without-apps.bats"]
        needs = (self.add_programs(), build)
        self.add("without-apps", "without-apps", command, form="tap", needs=needs, environment=environment)

    def add_package(self):
        needs = (self.add_programs(),)
        self.add("package", "package", ["Tests/systemd/test-trees"], form="tap", needs=needs, limit=3600)

    def build(self, step, variant, targets=""):
        command = [*BUILD, "--scratch-path", variant["scratch"], *variant["flags"]]
        return self.add(f"{step} build", step, command, environment={"BINDERD_TARGETS": targets})

    def suites(self, step, variant, build, parts, environment={}):
        """Adds a job for each part; only one if a pattern selects the tests."""
        if step in self.only:
            parts = {"selected tests": Part(self.only[step])}
        program = os.path.join(variant["scratch"], "debug", "binderdPackageTests.xctest")
        for name, part in parts.items():
            command = [program, "--testing-library", "swift-testing", *part.options()]
            self.add(f"{step} {name}", step, command, form="events", needs=(build,), environment=environment)

    def bats(self, step, file):
        command = ["bats", "--tap", "--timing"]
        if step in self.only:
            tests = [name for name in bats_tests(file) if re.search(self.only[step], f"{os.path.basename(file)}: {name}")]
            if not tests:
                return
            command += ["--filter", "^(" + "|".join(map(re.escape, tests)) + ")$"]
        needs = (self.add_programs(),)
        environment = {"BINDERD_BIN": os.path.abspath(".build/bin")}
        name = f"{step} {os.path.basename(file)}"
        self.add(name, step, [*command, file], form="tap", needs=needs, environment=environment)


@dataclass
class Part:
    """The suites that one process runs."""

    only: str = ""
    skip: str = ""
    parallel: bool = True

    def options(self):
        options = [] if self.parallel else ["--no-parallel"]
        options += ["--filter", self.only] if self.only else []
        return options + (["--skip", self.skip] if self.skip else [])


def everything():
    """Returns the parts of a run of all suites."""
    return {
        "daemon": Part(DAEMON),
        "database": Part(DATABASE, parallel=False),
        "others": Part(skip=f"{DAEMON}|{DATABASE}"),
    }


def bats_tests(file):
    """Returns the names of the tests of a bats file."""
    with open(file, encoding="utf-8") as text:
        return [shlex.split(line)[1] for line in text if line.startswith("@test ")]


def halves(suites):
    """Divides suites into two lists of about the same size."""
    parts = [[0], [0]]
    for size, suite in sorted(((changes.size(suite), suite) for suite in suites), reverse=True):
        part = min(parts, key=lambda part: part[0])
        part[0] += size
        part.append(suite)
    return [part[1:] for part in parts if len(part) > 1]
