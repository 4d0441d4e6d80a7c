# Locks and values that end with their owner, in a shell.

load support

setup() {
    make_place
    start_daemon
}

teardown() { remove_place; }

held() { bindctl get locks/backup > "$directory/no" 2>&1; }
# Whether a process has blocked SIGTERM, to wait for it.
awaits_term() { (((0x$(awk '/^SigBlk:/ { print $2 }' "/proc/$1/status") & 0x4000) != 0)); } # pid
waiting() { [ "$(bindctl get locks/backup -F '{value.waiting_count}' 2> "$directory/no")" = "$1" ]; } # count

@test "a command runs under a lock, and bindctl exits as it does" {
    run --separate-stderr bindctl lock backup -- sh -c 'echo "$BINDER_LOCK $BINDER_LOCK_TOKEN"; bindctl get locks/backup -F "{value.holder.token}"; exit 7'
    is "$status/$stderr" "7/"
    is "${lines[0]}" "backup ${lines[1]}"
    # The next holder has a higher token.
    [ "$(bindctl lock backup -- sh -c 'echo "$BINDER_LOCK_TOKEN"')" -gt "${lines[1]}" ]
    run ! held
}

@test "a lock that is held makes others wait, or exit with 5" {
    beside bindctl lock backup -- sleep 60
    holder=${background[-1]}
    eventually held
    run --separate-stderr bindctl lock backup --wait 0s -- echo never
    is "$status/$output" 5/
    [[ $stderr == "bindctl: lock 'backup' is held by process "* ]]
    run --separate-stderr bindctl lock backup --wait 50ms -- echo never
    is "$status/$output" 5/
    eventually waiting 0
    beside bindctl lock backup -- echo mine
    eventually waiting 1
    kill -KILL "$holder"
    wait "${background[-1]}"
    has out mine
    run ! held
}

@test "a lock is kept over a crash of the daemon" {
    beside bindctl lock backup -- sh -c 'while [ ! -e "$0" ]; do sleep .02; done; echo done' "$directory/go"
    holder=${background[-1]}
    eventually held
    token=$(bindctl get locks/backup -F '{value.holder.token}')
    kill_daemon
    start_daemon
    run bindctl lock backup --wait 0s -- echo never
    is "$status" 5
    sleep 6 # longer than lease_grace_ms
    is "$(bindctl get locks/backup -F '{value.holder.token}')" "$token"
    touch "$directory/go"
    wait "$holder"
    has out 'done'
    run ! held
}

@test "a command whose lock was taken away is ended, and bindctl exits with 6" {
    beside bindctl lock backup -- sleep 60
    holder=${background[-1]}
    eventually held
    echo '{"limits":{"lease_grace_ms":100}}' > "$directory/binder.conf"
    kill -STOP "$holder"
    kill_daemon
    start_daemon --config "$directory/binder.conf"
    eventually not held
    kill -CONT "$holder"
    status=0
    wait "$holder" || status=$?
    is "$status" 6
    grep -qF "lock 'backup' is lost" "$directory/err"
}

@test "a signal ends the command, and the lock is free" {
    beside bindctl lock backup -- sleep 60
    holder=${background[-1]}
    eventually held
    kill -TERM "$holder"
    status=0
    wait "$holder" || status=$?
    is "$status" 143
    run ! held
}

# Runs a command under the lock that starts another one, and waits for both.
lock_a_family() { # what the other one does first
    rm -f "$directory/child"
    beside bindctl lock backup -- sh -c 'sh -c "$1; echo \$\$ > \"\$0\"; while :; do sleep .1; done" "$0" & wait; true' \
        "$directory/child" "${1:-true}"
    holder=${background[-1]}
    eventually test -s "$directory/child"
    child=$(cat "$directory/child")
}

@test "a signal ends all that the command has started, before the lock is free" {
    lock_a_family
    kill -TERM "$holder"
    status=0
    wait "$holder" || status=$?
    is "$status" 143
    gone "$child"
    run ! held
}

@test "what a command has started ends if bindctl is killed" {
    lock_a_family
    kill -KILL "$holder"
    eventually gone "$child"
    eventually not held
}

# Starts a program that is in a session of its own, writes its number, and outlives its parent.
# shellcheck disable=SC2016 # for the shell of the lock
leaves='setsid sh -c "echo \$\$ > \"\$0\"; while :; do sleep .1; done" "$0" &'
left() { # runs after the program was left
    rm -f "$directory/child"
    beside bindctl lock backup -- sh -c "$leaves $1" "$directory/child"
    holder=${background[-1]}
    eventually test -s "$directory/child"
    child=$(cat "$directory/child")
}

@test "a signal ends programs in other sessions too, before the lock is free" {
    for rest in wait true; do
        left "$rest"
        [ "$rest" = wait ] || eventually contains err 'the command has ended; waiting for what it has started'
        kill -TERM "$holder"
        status=0
        wait "$holder" || status=$?
        gone "$child"
        not held
        is "$rest $status" "$([ "$rest" = wait ] && echo 'wait 143' || echo 'true 0')"
    done
}

@test "programs in other sessions end if bindctl is killed, whether or not their parent runs" {
    for rest in wait true; do
        left "$rest"
        # The daemon keeps the lease of a client that is gone for 5 s; the programs may end before that.
        kill -KILL "$holder"
        eventually gone "$child"
    done
    eventually not held
}

@test "the lock is kept until all that the command has started has ended" {
    left 'exit 3'
    eventually grep -qF "bindctl: the command has ended; waiting for what it has started: sh (process $child)" "$directory/err"
    held
    run bindctl lock backup --wait 0s -- echo never
    is "$status/$output" "5/bindctl: lock 'backup' is held by process $holder of user $(id -u)"
    kill -KILL "$child"
    status=0
    wait "$holder" || status=$?
    is "$status" 3
    run ! held
}

@test "programs that bindctl had started before are no part of the command" {
    rm -f "$directory/child"
    beside sh -c 'sleep 61 & echo $! > "$0"; exec bindctl lock backup -- sh -c "exit 4"' "$directory/child"
    status=0
    wait "${background[-1]}" || status=$?
    is "$status" 4
    kill "$(cat "$directory/child")"
}

@test "a command whose lock somebody releases is ended, if need be with SIGKILL, and bindctl exits with 6" {
    lock_a_family 'trap "" TERM'
    lease=$(bindctl get locks/backup -F '{value.holder.lease}')
    bindctl call locks.release name=backup lease="$lease" > "$directory/no"
    status=0
    wait "$holder" || status=$?
    is "$status" 6
    gone "$child"
    grep -qF "lock 'backup' is lost" "$directory/err"
    lock_a_family
    lease=$(bindctl get locks/backup -F '{value.holder.lease}')
    bindctl call lease.release lease="$lease" > "$directory/no"
    status=0
    wait "$holder" || status=$?
    is "$status" 6
    gone "$child"
}

@test "who waits for a lock keeps the place over restarts of the daemon" {
    beside bindctl lock backup -- sh -c 'while [ ! -e "$0" ]; do sleep .02; done' "$directory/go"
    eventually held
    beside bindctl lock backup -- echo second
    eventually waiting 1
    kill -TERM "$daemon"
    wait "$daemon"
    start_daemon
    eventually waiting 1
    kill_daemon
    start_daemon
    # One that comes later is behind it.
    bindctl lock backup -- echo third >> "$directory/out" 2>> "$directory/err" 3>&- &
    background+=($!)
    eventually waiting 2
    sleep 6 # longer than lease_grace_ms
    waiting 2
    touch "$directory/go"
    eventually has out third
    is "$(grep -v '^bindctl' "$directory/out")" "second
third"
    # The time to wait counts while the daemon is away.
    eventually not held
    rm "$directory/go"
    beside bindctl lock backup -- sh -c 'while [ ! -e "$0" ]; do sleep .02; done' "$directory/go"
    eventually held
    asked=$(grep -c '^-> .*"method":"locks.acquire"' "$BINDER_TRACE")
    beside bindctl lock backup --wait 1s -- echo never
    traced '"method":"locks.acquire"' $((asked + 1))
    kill_daemon
    status=0
    wait "${background[-1]}" || status=$?
    is "$status" 5
    run ! has out never
}

@test "a lock is free when bindctl ends, because the daemon has confirmed it" {
    bindctl lock backup -- true
    grep -q '^-> .*"method":"lease.release"' "$directory/trace"
    is "$(grep -c '^<- .*"result"' "$directory/trace")" "$(grep -c '^-> ' "$directory/trace")"
    rm "$directory/trace"
    # It waits for a signal before the value is there, also while the daemon does not answer.
    kill -STOP "$daemon"
    beside bindctl set cells/here true --while-connected
    eventually awaits_term "${background[-1]}"
    kill -CONT "$daemon"
    eventually bindctl get cells/here
    kill -TERM "${background[-1]}"
    wait "${background[-1]}" || true
    run ! bindctl get cells/here
    grep -q '^-> .*"method":"lease.release"' "$directory/trace"
}

@test "a value with a ttl ends in time, and can be renewed" {
    beside bindctl watch cells/door
    eventually has out '--- live after 0'
    bindctl set cells/door open --ttl 300ms
    eventually has out $'cells/door\t(gone)'
    is "$(tail -n 2 "$directory/out")" $'cells/door\t"open"\ncells/door\t(gone)'
    lease=$(bindctl set cells/door open --ttl 1h)
    is "$(bindctl call lease.renew lease="$lease")" 3600000
    bindctl call lease.release lease="$lease" > "$directory/no"
    run ! bindctl get cells/door
    run --separate-stderr bindctl set cells/door open --ttl 0s
    is "$status" 2
    [[ $stderr == *"--ttl takes 100ms to 31d, not '0s'"* ]]
}

@test "a value is there while its program is connected" {
    beside bindctl set cells/here true --while-connected
    owner=${background[-1]}
    eventually bindctl get cells/here
    kill -KILL "$owner"
    eventually not bindctl get cells/here
    beside bindctl set cells/here true --while-connected
    owner=${background[-1]}
    eventually bindctl get cells/here
    kill -TERM "$owner"
    status=0
    wait "$owner" || status=$?
    [ "$status" -gt 128 ]
    eventually not bindctl get cells/here
    run --separate-stderr bindctl set cells/here true --while-connected --ttl 5s
    is "$status/$stderr" "2/bindctl: --ttl and --while-connected cannot be used together; see 'bindctl help set'"
}

@test "in a terminal the command under a lock reads the keys, and Ctrl-Z and Ctrl-C are for it" {
    # It says when it reads: what is typed before belongs to the shell.
    cat > "$directory/repeat" << 'END'
#!/usr/bin/python3
import signal, sys
signal.signal(signal.SIGCONT, lambda *_: print("continued", flush=True))
print("ready", flush=True)
while line := sys.stdin.readline():
    print(line, end="", flush=True)
END
    chmod +x "$directory/repeat"
    PATH=$directory:$PATH python3 - 3>&- << 'END'
import os, pty, select, sys, time

pid, terminal = pty.fork()
if pid == 0:
    os.environ.update(PS1="PROMPT ", TERM="dumb")
    os.execvp("bash", ["bash", "--norc", "-i"])
shown = b""


def until(text):
    """Waits for a text on the terminal, and forgets everything up to it."""
    global shown
    end = time.monotonic() + 60
    while text not in shown:
        if time.monotonic() > end:
            sys.exit(f"never: {text}, only {shown}")
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 4096)
    shown = shown[shown.index(text) + len(text):]


def type(text):
    os.write(terminal, text)


until(b"PROMPT ")
type(b"bindctl lock backup -- repeat\n")
until(b"ready\r\n")
type(b"hello\n")
until(b"hello\r\nhello\r\n")
type(b"\x1a")
until(b"PROMPT ")
# The lock is kept while the command is stopped, and the shell has the terminal.
type(b"bindctl get locks/backup --pick /waiting_count\n")
until(b"\n0\r\n")
type(b"fg\n")
until(b"continued\r\n")
type(b"again\n")
until(b"again\r\nagain\r\n")
type(b"\x03")
until(b"PROMPT ")
type(b'echo "status $?"; bindctl get locks/backup\n')
until(b"\nstatus 130\r\n")
until(b"no source")
os.close(terminal)
os.waitpid(pid, 0)
END
}
