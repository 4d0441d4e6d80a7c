"""Counts what a service on tables costs beside the same one with a state that is written by hand.

Valgrind counts the instructions of two runs of different length; their difference belongs to the commands or
events that only the longer one has. So the figures depend neither on the speed nor on the load of the machine.
"""

import re
import subprocess
import sys
import tempfile

# Valgrind cannot read the symbols of such a program.
directory = tempfile.TemporaryDirectory()
program = f"{directory.name}/tables-bench"
subprocess.run(["strip", "-o", program, sys.argv[1]], check=True)
COUNT = 2000

#: The most that tables may cost, as a multiple of the state written by hand.
LIMITS = {"command": 1.3, "event": 1.3, "memory": 1.2}


def instructions(kind, mode, count):
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, kind, mode, str(count)],
        capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", run.stderr)[1])


def cost(kind, mode):
    if mode == "memory":
        return int(subprocess.run([program, kind, mode, "100"], capture_output=True, text=True, check=True).stdout)
    return (instructions(kind, mode, 2 * COUNT) - instructions(kind, mode, COUNT)) / COUNT


print("| 10,000 rows | by hand | tables | ratio | at most | |")
print("|---|---|---|---|---|---|")
names = {
    "command": "instructions of a command until it is durable", "event": "instructions of an event at the start",
    "memory": "bytes of a row, pending and durable",
}
for mode, limit in LIMITS.items():
    hand, tables = cost("hand", mode), cost("tables", mode)
    ratio = tables / hand
    print(f"| {names[mode]} | {hand:,.0f} | {tables:,.0f} | {ratio:.2f} | {limit} | {'ok' if ratio <= limit else '**short**'} |")
