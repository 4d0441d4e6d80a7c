"""The databases of Scripts/kill-cluster: one PostgreSQL server, or three with Patroni."""
import json, os, signal, subprocess, time, urllib.request
from clients import WAIT, Failure

SCRIPTS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + "/Scripts/"


def call(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=WAIT)
    if done.returncode != 0:
        raise Failure(f"{' '.join(words)}: exit code {done.returncode}: {done.stderr}{done.stdout}")
    return done.stdout.strip()


class Database:
    """A server that takes writes, somewhere in a directory."""

    # The options of binderd.
    options = []

    def query(self, text):
        """Returns the rows of a query, asked at the server that takes writes."""
        sign = "&" if "?" in self.journal else "?"
        return call("psql", f"{self.journal}{sign}target_session_attrs=read-write&connect_timeout=2", "-AtXqc", text)


class Single(Database):
    """One server, which waits for no standby."""

    options = ["--without-replication"]

    def __init__(self, home):
        self.directory = home + "/pg"
        call(SCRIPTS + "postgres", "start", self.directory)
        self.journal = f"postgres:///postgres?host={self.directory}&user=postgres"

    def crash(self):
        call(SCRIPTS + "postgres", "stop", self.directory, "immediate")

    def start(self):
        call(SCRIPTS + "postgres", "start", self.directory)

    def settle(self):
        """Has nothing to wait for."""

    def end(self):
        subprocess.run([SCRIPTS + "postgres", "stop", self.directory, "immediate"])


class Patroni(Database):
    """Three servers; each commit waits for a standby, and Patroni replaces the primary."""

    def __init__(self, home):
        self.directory = home + "/pg"
        self.journal = call(SCRIPTS + "patroni", "start", self.directory).splitlines()[-1]
        with open(self.directory + "/network") as file:
            self.network = file.read().strip()

    def members(self):
        """Returns the roles and states of the servers by node, as Patroni knows them."""
        for number in 1, 2, 3:
            try:
                with urllib.request.urlopen(f"http://{self.network}.{number}:8008/cluster", timeout=1) as answer:
                    return {m["name"]: (m["role"], m["state"]) for m in json.load(answer)["members"]}
            except (OSError, ValueError, KeyError):
                continue
        return {}

    def find(self, *roles):
        found = [name for name, (role, _) in self.members().items() if role in roles]
        if not found:
            raise Failure(f"no server is {' or '.join(roles)}")
        return found[0]

    def primary(self):
        return self.find("leader")

    def standby(self):
        """Returns a standby that commits wait for."""
        return self.find("sync_standby", "quorum_standby")

    def lead_etcd(self, node):
        """Makes the member of a node the leader of etcd, so that a fault of the node is the worst one."""

        def ask(number, method, body):
            place = f"http://{self.network}.{number}:2379/v3/maintenance/{method}"
            with urllib.request.urlopen(place, json.dumps(body).encode(), timeout=5) as answer:
                return json.load(answer)

        try:
            states = {number: ask(number, "status", {}) for number in (1, 2, 3)}
            members = {state["header"]["member_id"]: number for number, state in states.items()}
            wanted = states[int(node[1:])]
            if wanted["leader"] != wanted["header"]["member_id"]:
                ask(members[wanted["leader"]], "transfer-leadership", {"targetID": wanted["header"]["member_id"]})
        except (OSError, KeyError, ValueError) as error:
            raise Failure(f"the leader of etcd cannot be moved to {node}: {error}") from error

    def settle(self):
        """Waits until both standbys stream, and one is waited for."""
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            members = self.members()
            roles = sorted(members.values())
            streaming = [role for role, state in roles if state == "streaming"]
            if ("leader", "running") in roles and len(streaming) == 2 and set(streaming) != {"replica"}:
                return
            time.sleep(0.1)
        raise Failure(f"the servers are not complete within {WAIT} s: {members}")

    def processes(self, node, *names):
        """Returns the processes of a node: of 'etcd', 'patroni' or 'postgres'."""
        found = []
        for name in names:
            path = "data/postmaster" if name == "postgres" else name
            try:
                with open(f"{self.directory}/{node}/{path}.pid") as file:
                    first = int(file.readline())
                with open(f"/proc/{first}/cmdline") as file:
                    if self.directory not in file.read():
                        continue
            except (OSError, ValueError):
                continue
            found.append(first)
            if name == "postgres":
                # Each process of a server is a session of its own.
                children = subprocess.run(["pgrep", "-P", str(first)], capture_output=True, text=True).stdout
                found += [int(child) for child in children.split()]
        return found

    def send(self, number, node, *names):
        for process in self.processes(node, *names):
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass

    def resume(self, node):
        self.send(signal.SIGCONT, node, "postgres", "etcd", "patroni")

    def start(self, node):
        call(SCRIPTS + "patroni", "node", self.directory, node)

    def switch(self):
        call(SCRIPTS + "patroni", "ctl", self.directory, "switchover", "--force")

    def end(self):
        subprocess.run([SCRIPTS + "patroni", "stop", self.directory])
