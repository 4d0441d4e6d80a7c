"""A job is one command of a run: what it waits for, and how its output is read."""

import os
import signal
import subprocess
import time
from dataclasses import dataclass, field


@dataclass
class Job:
    name: str  # unique, for example `user locks.bats`
    step: str  # the step that it belongs to, for example `user`
    command: list
    form: str = "status"  # how its tests are counted: `status`, `tap` or `events`
    needs: tuple = ()  # names of jobs that must have passed
    environment: dict = field(default_factory=dict)
    limit: float = 1800  # seconds
    process: subprocess.Popen | None = None
    log: str = ""
    begun: float = 0
    ended: float = 0
    status: int | None = None  # exit status; `None` until it has ended

    @property
    def seconds(self):
        return (self.ended or time.monotonic()) - self.begun

    @property
    def is_build(self):
        return self.command[0] in ("swift", "Scripts/build") and self.command[1:2] != ["format"]

    @property
    def size(self):
        """A first guess of how long the job takes, compared with others: the bytes of a file of tests."""
        return os.path.getsize(self.command[-1]) / 100 if self.form == "tap" and os.path.isfile(self.command[-1]) else 600

    @property
    def events(self):
        """The file of test events that the program of the suites writes."""
        return self.log[: -len(".log")] + ".events"

    def start(self, directory):
        self.log = os.path.join(directory, self.name.replace("/", "_").replace(" ", "-") + ".log")
        command = list(self.command)
        if self.form == "events":
            if os.path.exists(self.events):
                os.remove(self.events)
            command += ["--event-stream-version", "0", "--event-stream-output-path", self.events]
        self.begun = time.monotonic()
        with open(self.log, "wb") as log:
            # A session of its own, so that all processes of the job can be ended together.
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **self.environment},
                start_new_session=True,
            )

    def poll(self):
        """Returns whether the job has ended. A job that takes too long is ended."""
        if self.status is not None:
            return True
        status = self.process.poll()
        if status is None and self.seconds > self.limit:
            with open(self.log, "ab") as log:
                log.write(f"\nerror: ended after {self.limit:.0f} s\n".encode())
            self.kill()
            status = self.process.wait()
        if status is None:
            return False
        self.ended = time.monotonic()
        self.status = status
        self.kill()
        return True

    def kill(self):
        """Ends what is left of the session."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
