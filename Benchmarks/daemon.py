"""A private daemon in a temporary directory; both are removed at the end."""
import atexit, contextlib, json, os, signal, socket, subprocess, sys, tempfile, time

home = tempfile.mkdtemp(prefix="binder-bench.", dir=os.environ.get("TMPDIR", "/var/tmp"))
path, journal = home + "/sock", home + "/journal.db"
atexit.register(os.rmdir, home)
# So that SIGTERM ends the daemon, too.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def connect():
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    return client


class Client:
    """A connection that calls a method and waits for its result."""

    def __init__(self):
        self.socket = connect()
        self.file = self.socket.makefile("rb")

    def call(self, method, **params):
        line = json.dumps({"id": 1, "method": method, "params": params})
        self.socket.sendall(line.encode() + b"\n")
        answer = json.loads(self.file.readline())
        if "error" in answer:
            raise SystemExit(f"{method}: {answer['error']}")
        return answer["result"]


@contextlib.contextmanager
def running(binderd, *words, **options):
    """Starts a daemon, waits until it accepts clients, and yields its process.

    The words are arguments, and the options are those of Popen.
    """
    daemon = subprocess.Popen([binderd, "--socket", path, "--journal", journal, *words], **options)
    try:
        while True:
            try:
                connect().close()
                break
            except OSError:
                time.sleep(0.05)
        yield daemon
    finally:
        daemon.kill()
        daemon.wait()
        for name in os.listdir(home):
            os.unlink(home + "/" + name)


def processor_time(daemon):
    """Returns the time of all threads in seconds."""
    tasks = f"/proc/{daemon.pid}/task"
    total = 0
    for task in os.listdir(tasks):
        with open(f"{tasks}/{task}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total / 1e9


def rest(daemon):
    """Waits until the daemon has nothing to do: rows come in parts."""
    last = -1.0
    while processor_time(daemon) - last > 0.001:
        last = processor_time(daemon)
        time.sleep(0.2)
