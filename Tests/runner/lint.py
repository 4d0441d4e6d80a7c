"""The checks of the sources that need no build."""

import subprocess

SWIFT = ["Package.swift", "Libraries", "Sources", "Tests", "Benchmarks", "Examples"]
FORMAT = ["swift", "format", "lint", "--strict", "--parallel"]

# It opens all its files at once, and a process may have few descriptors.
FORMAT_ALL = r"""find "$@" -name '*.swift' -not -path '*/.*' -print0 | xargs -0 -n 60 """ + " ".join(FORMAT)


def checks(changed):
    """Returns the name and the command of each check. `changed`: only of files that differ from the last commit."""
    if changed:
        files = [file for file in changed_files() if file.endswith(".swift")]
        if files:
            yield "format", [*FORMAT, *files]
    else:
        yield "format", ["sh", "-c", FORMAT_ALL, "sh", *SWIFT]
        yield "runner", ["python3", "-m", "unittest", "discover", "-q", "-s", "Tests/runner"]
    yield "words", ["Scripts/lint-words"]


def changed_files():
    commands = [["git", "diff", "--name-only", "--diff-filter=d", "HEAD"], ["git", "ls-files", "--others", "--exclude-standard"]]
    outputs = [subprocess.run(command, capture_output=True, text=True).stdout for command in commands]
    return [line for output in outputs for line in output.splitlines()]
