"""Tells which suites a change affects: those of which a source, also of a target below, differs from when they passed."""

import hashlib
import json
import os
import subprocess

PASSED = ".build/test/passed.json"
# These read the whole tree.
ALWAYS = {"ArchitectureTests"}
# They start a daemon.
NEVER = {"DaemonTests"}


def affected_suites():
    passed = load()
    return sorted(name for name, digest in digests().items() if name in ALWAYS or passed.get(name) != digest)


def remember(suites, before):
    """Notes that suites have passed in the state `before`, unless they have changed meanwhile."""
    after = digests()
    passed = load()
    passed.update({name: after[name] for name in suites if name in after and after[name] == before.get(name)})
    with open(PASSED + ".new", "w", encoding="utf-8") as file:
        json.dump(passed, file, indent=1)
    os.replace(PASSED + ".new", PASSED)


def load():
    try:
        with open(PASSED, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def digests():
    """Returns a digest of all sources that each suite depends on."""
    dump = subprocess.run(["swift", "package", "dump-package"], capture_output=True, check=True).stdout
    description = json.loads(dump)
    targets = {target["name"]: target for target in description["targets"]}
    own = {name: digest(path(target)) for name, target in targets.items()}
    shared = digest("Protocol") + hashlib.sha256(ordered(description).encode()).hexdigest()
    result = {}
    for name, target in targets.items():
        if target["type"] == "test" and name not in NEVER:
            text = shared + "".join(own[one] for one in sorted(below(name, targets)))
            result[name] = hashlib.sha256(text.encode()).hexdigest()
    return result


def ordered(description):
    """Returns the description of a package as text; SwiftPM lists its traits in another order each time."""
    traits = sorted(description.get("traits", []), key=lambda trait: trait["name"])
    return json.dumps({**description, "traits": traits}, sort_keys=True)


def below(name, targets):
    """Returns a target and all targets that it depends on."""
    found, waiting = set(), [name]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += [list(dependency.values())[0][0] for dependency in targets[one]["dependencies"]]
    return found


def path(target):
    directory = "Tests" if target["type"] == "test" else "Sources"
    return target.get("path") or f"{directory}/{target['name']}"


def digest(directory):
    total = hashlib.sha256()
    for root, directories, files in os.walk(directory):
        directories.sort()
        for name in sorted(files):
            file = os.path.join(root, name)
            total.update(file.encode() + b"\0")
            with open(file, "rb") as content:
                total.update(hashlib.sha256(content.read()).digest())
    return total.hexdigest()


def size(suite):
    """Returns the bytes of the sources of a suite, as a measure of its time."""
    return sum(os.path.getsize(os.path.join(root, name)) for root, _, files in os.walk(f"Tests/{suite}") for name in files)
