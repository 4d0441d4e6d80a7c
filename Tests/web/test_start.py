"""How binder-web starts for oneself: `bindctl web`, and what is said when it cannot."""

import os
import shutil
import signal
import socket
import subprocess

from support import Case, Session, free_port, programs


class Start(Case):
    def setUp(self):
        super().setUp()
        self.place.start_daemon()

    def start(self, *words):
        """Starts `bindctl web`, and returns the address that it prints."""
        self.place.port = free_port()
        self.place.web = self.place.start(
            programs / "bindctl", "web", "--port", self.place.port, *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.place.web.stderr.close)
        return self.place.web.stdout.readline().decode().strip()

    def fail(self, *words, program="binder-web", **changes):
        """Runs a command that must fail; returns its exit code and what it says."""
        done = subprocess.run(
            [str(programs / program), *words], env={**self.place.environment, **changes}, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout, "")
        return done.returncode, done.stderr

    def test_the_address_works_once_and_there_is_another(self):
        address = self.start()
        self.assertRegex(address, rf"^http://127\.0\.0\.1:{self.place.port}/\?token=[0-9a-f]{{32}}$")
        self.assertIn("it works once", self.place.web.stderr.readline().decode())
        first = Session(address)
        self.assertEqual(first.answer.status, 200)
        self.assertEqual(Session(address).answer.status, 403)
        words = [programs / "bindctl", "web"]
        second = subprocess.run(words, env=self.place.environment, capture_output=True, check=True, text=True)
        self.assertIn("for another browser", second.stderr)
        other = Session(second.stdout.strip())
        self.assertEqual(other.answer.status, 200)
        self.assertNotEqual(other.cookie, first.cookie)
        for session in (first, other):
            self.assertEqual(session.get().status, 200)
            self.assertEqual(self.open(session).answer.status, 101)

    def test_a_name_for_a_tunnel(self):
        session = Session(self.start("--name", "box.example.org"))
        self.assertEqual(session.get(host="box.example.org").status, 200)
        self.assertEqual(session.get(host="bad.example.org").status, 421)

    def test_browsers_stay_admitted_when_it_starts_again(self):
        session = Session(self.start())
        os.kill(self.place.web.pid, signal.SIGKILL)
        self.place.web.wait()
        self.place.start_web()
        self.assertEqual(session.get().status, 200)
        self.assertEqual(self.open(session).answer.status, 101)

    def test_a_signal_ends_it(self):
        self.start()
        files = set(os.listdir(f"{self.place.directory}/binder"))
        self.assertEqual(len([name for name in files if name.endswith(".sock")]), 1)
        os.kill(self.place.web.pid, signal.SIGINT)
        self.assertEqual(self.place.web.wait(60), 0)
        self.assertFalse([name for name in os.listdir(f"{self.place.directory}/binder") if name.endswith(".sock")])

    def test_what_it_cannot_do(self):
        code, text = self.fail("--host", "box", "web", program="bindctl")
        self.assertEqual((code, "not with --host" in text), (64, True), text)
        alone = f"{self.place.directory}/bindctl"
        shutil.copy(programs / "bindctl", alone)
        code, text = self.fail("web", program=alone, PATH="/nonexistent")
        self.assertEqual((code, "binder-web is not installed" in text), (69, True), text)
        code, text = self.fail("--pages", "/nonexistent")
        self.assertEqual((code, "no index.html in '/nonexistent'" in text), (69, True), text)
        # The directory of the programs has no page beside it.
        shutil.copy(programs / "binder-web", self.place.directory)
        code, text = self.fail(program=f"{self.place.directory}/binder-web")
        self.assertEqual((code, "the page is not installed" in text), (69, True), text)

    def test_a_port_that_another_program_has(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            code, text = self.fail("--port", str(other.getsockname()[1]))
        self.assertEqual((code, "in use" in text), (69, True), text)
        self.assertFalse([name for name in os.listdir(f"{self.place.directory}/binder") if name.endswith(".sock")])

    def test_a_directory_of_somebody_else(self):
        os.makedirs(f"{self.place.directory}/binder", exist_ok=True)
        os.chmod(f"{self.place.directory}/binder", 0o777)
        code, text = self.fail()
        self.assertEqual((code, "others can" in text or "writ" in text), (69, True), text)

    def test_a_port_that_is_taken(self):
        self.start()
        code, text = self.fail("--socket", f"{self.place.directory}/other.sock", "--port", str(self.place.port))
        self.assertEqual((code, "already in use" in text), (69, True), text)
