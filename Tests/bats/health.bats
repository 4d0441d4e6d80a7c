# Health: metrics, doctor, the slow log, and the log in the systemd journal.

load support

setup() {
    make_place
    PATH=$PATH:$BATS_TEST_DIRNAME/../../.build/test/tools/usr/bin
}

teardown() { remove_place; }

# Prints the value of a metric.
metric() { # name-with-labels
    bindctl metrics --prometheus | awk -v name="$1" '$1 == name { print $2 }'
}

@test "metrics: promtool and a parser of OpenMetrics have nothing to say" {
    start_daemon
    bindctl set cells/lamp true
    bindctl metrics > "$directory/open"
    bindctl metrics --prometheus > "$directory/prometheus"
    if command -v promtool > /dev/null; then
        run promtool check metrics < "$directory/prometheus"
        is "$output" ''
        [ "$status" -eq 0 ]
    fi
    if python3 -c 'import prometheus_client' 2> /dev/null; then
        python3 -c 'import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
assert len(list(parse(sys.stdin.read()))) > 20' < "$directory/open"
    fi
    is "$(tail -n 1 "$directory/open")" '# EOF'
    is "$(grep -v '^#' "$directory/open" | sed 's/ .*//')" "$(grep -v '^#' "$directory/prometheus" | sed 's/ .*//')"
    command -v promtool > /dev/null || skip 'promtool is missing'
}

@test "metrics: requests, errors, events, commits and bytes only grow, and count each once" {
    start_daemon
    for value in 1 2 3; do bindctl set cells/lamp "$value"; done
    run bindctl get cells/nothing
    [ "$status" -eq 4 ]
    is "$(metric binderd_up)" 1
    is "$(metric 'binderd_requests_total{method="set"}')" 3
    is "$(metric 'binderd_errors_total{error="not_found"}')" 1
    is "$(metric 'binderd_errors_total{error="timeout"}')" 0
    is "$(metric binderd_events_total)" 3
    is "$(metric binderd_commits_total)" 3
    is "$(metric 'binderd_stage_seconds_count{stage="commit"}')" 3
    is "$(metric 'binderd_stage_seconds_bucket{stage="commit",le="+Inf"}')" 3
    [ "$(metric 'binderd_stage_seconds_count{stage="decide"}')" -ge 1 ]
    is "$(metric binderd_journal_last_position)" 3
    alone() { [ "$(metric binderd_connections)" = 1 ]; }
    eventually alone
    received=$(metric binderd_received_bytes_total)
    [ "$(metric binderd_received_bytes_total)" -gt "$received" ]
    [ "$(metric binderd_sent_bytes_total)" -gt "$received" ]
}

@test "metrics: the reasons of disconnects and of refused clients are counted" {
    echo '{"limits": {"bad_lines": 2, "connections": 2}}' > "$directory/binder.conf"
    start_daemon --config "$directory/binder.conf"
    printf '{\n{\n' | socat -t 60 - "UNIX-CONNECT:$BINDER_SOCKET" > "$directory/out"
    grep -q protocol_abuse "$directory/out"
    disconnected() { # reason count
        local count
        count=$(metric "binderd_disconnects_total{reason=\"$1\"}")
        [ "${count:-0}" -ge "$2" ]
    }
    eventually disconnected protocol_abuse 1
    eventually disconnected client 1
    is "$(metric 'binderd_disconnects_total{reason="protocol_abuse"}')" 1
    beside bindctl watch 'cells/**'
    eventually has out '--- live after 0'
    beside bindctl watch 'lists/**'
    eventually has out '--- live after 0'
    run bindctl get cells/lamp
    [ "$status" -eq 6 ]
    kill "${background[-1]}"
    # The killed client may still be connected; then the daemon refuses the question too, and counts it.
    are_counted() {
        local count
        count=$(metric 'binderd_connections_refused_total{reason="too_many_connections"}')
        [ "${count:-0}" -ge 1 ]
    }
    eventually are_counted
}

@test "metrics: --textfile replaces the file at once, everybody may read it, and it says when no daemon answers" {
    start_daemon
    umask 077
    echo old > "$directory/binderd.prom"
    ln "$directory/binderd.prom" "$directory/link"
    run bindctl metrics --textfile "$directory/binderd.prom"
    is "$output" ''
    [ "$status" -eq 0 ]
    is "$(cat "$directory/link")" old # a new file was renamed into place
    is "$(stat -c %a "$directory/binderd.prom")" 644
    grep -qx 'binderd_up 1' "$directory/binderd.prom"
    kill_daemon
    daemon=
    run --separate-stderr bindctl metrics --textfile "$directory/binderd.prom"
    [ "$status" -eq 3 ]
    is "$(grep -v '^#' "$directory/binderd.prom")" 'binderd_up 0'
    is "$(ls "$directory" | grep -c prom)" 1
    start_daemon
    run --separate-stderr bindctl metrics --textfile "$directory/none/binderd.prom"
    [ "$status" -eq 1 ]
    [[ $stderr == "bindctl: cannot write $directory/none/binderd.prom: No such file or directory" ]]
}

# Prints a check of the doctor: its state, its text and its next step.
check() { # name
    bindctl doctor -j > "$directory/doctor" || true
    jq -r --arg name "$1" '.checks[] | select(.name == $name) | "\(.state): \(.text)\(if .fix then " | " + .fix else "" end)"' \
        "$directory/doctor"
}

@test "doctor: a healthy daemon" {
    start_daemon
    bindctl set cells/lamp true
    run bindctl doctor -j
    is "$(jq -c '[.checks[] | select((.name | IN("disk", "files") | not) and .state != "ok") | .name]' <<< "$output")" '["unit"]'
    is "$(jq -r '[.checks[].name] | join(" ")' <<< "$output")" \
        'socket unit group version journal clock retention disk state clients files sending log bindings config'
    states=(ok warning critical unknown)
    is "$(jq -r .state <<< "$output")" "${states[$status]}"
    is "$(check journal)" "ok: $directory/journal.db: 1 event, all since the first"
    is "$(bindctl doctor -r)" "${states[$status]}"
    bindctl doctor | head -1 | grep -qE '^BINDERD (OK: 14 checks passed|WARNING: (disk|files)|CRITICAL: disk)'
}

# Starts a daemon under a filter of system calls that refuses a new io_uring, as in many containers.
start_without_ring() {
    cat > "$directory/refuse" <<'END'
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
LOAD, IF_EQUAL, RETURN, ALLOW, EPERM = 0x20, 0x15, 0x06, 0x7FFF0000, 0x00050001
IO_URING_SETUP = 425  # on all machines
steps = [(LOAD, 0, 0, 0), (IF_EQUAL, 0, 1, IO_URING_SETUP), (RETURN, 0, 0, EPERM), (RETURN, 0, 0, ALLOW)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
program = struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code))
assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
assert libc.prctl(22, 2, program, 0, 0) == 0  # PR_SET_SECCOMP
os.execvp(sys.argv[1], sys.argv[1:])
END
    python3 "$directory/refuse" binderd --socket "$BINDER_SOCKET" --journal "$directory/journal.db" 2>> "$directory/log" 3>&- &
    daemon=$!
    eventually bindctl ping > /dev/null 2>&1
}

# Lets six clients watch a cell that changes twice in two turns, and prints what each has got.
six_watch() {
    local i
    for i in 1 2 3 4 5 6; do
        bindctl watch cells/lamp --changes-only -n 2 -r > "$directory/watch.$i" 3>&- &
        background+=($!)
    done
    six_are_there() { [ "$(bindctl stats -F '{stats.subscriptions}')" = 6 ]; }
    eventually six_are_there
    bindctl set cells/lamp 7
    bindctl set cells/lamp 8
    for i in 1 2 3 4 5 6; do
        eventually grep -q 8 "$directory/watch.$i"
        paste -sd ' ' "$directory/watch.$i"
    done | sort | uniq -c | awk '{ print $1 ": " $2 " " $3 }'
}

@test "several clients get their lines with an io_uring, and without one if the system refuses it" {
    start_daemon
    is "$(six_watch)" '6: 7 8'
    kill_daemon
    start_without_ring
    is "$(bindctl stats -F '{stats.sending}')" send
    is "$(check sending)" 'ok: each client needs a call, because the system has no io_uring or does not allow it'
    bindctl set cells/lamp 0
    is "$(six_watch)" '6: 7 8'
}

@test "doctor: events that a reader has parked" {
    start_daemon
    bindctl set cells/a 1
    beside bindctl work mail --stream cells/a --since start --max-deliveries 1 -- false
    warns() { [ "$(check readers)" = "$1" ]; }
    eventually warns "warning: 'mail' has a parked event | bindctl get readers/mail"
    run bindctl doctor
    [ "$status" -gt 0 ]
    bindctl call readers.drop name=mail
    eventually warns ''
}

@test "doctor: no daemon" {
    run bindctl doctor
    is "$status" 2
    is "${lines[0]}" "BINDERD CRITICAL: socket: no daemon answers: tried $BINDER_SOCKET (\$BINDER_SOCKET: No such file or directory)"
    [[ ${lines[2]} == *"→ start one with: binderd --socket $BINDER_SOCKET" ]]
}

@test "reload --check and doctor name the files that were changed and not reloaded" {
    echo '{}' > "$directory/binder.conf"
    start_daemon --config "$directory/binder.conf"
    mkdir -p "$directory"/{bind,types,view,service}.d
    is "$(bindctl reload --check)" 'changed: nothing'
    echo 'a: cells/a ~> cells/b' > "$directory/bind.d/a.bind"
    echo 'cells/c: number' > "$directory/types.d/a.types"
    printf 'view "A."\ncells/a ~> a\n' > "$directory/view.d/a.view"
    is "$(bindctl reload --check)" 'changed: bindings, types, views'
    is "$(bindctl reload --check)" 'changed: bindings, types, views'
    is "$(check config)" "warning: $directory/binder.conf: bindings, types, views changed, and was not applied | bindctl reload"
    is "$(bindctl reload)" 'changed: bindings, types, views'
    is "$(bindctl reload --check)" 'changed: nothing'
    rm "$directory/bind.d/a.bind"
    is "$(bindctl reload --check)" 'changed: bindings'
    # A service whose name the daemon has is not used.
    echo 'service("cells", "Cells.")' > "$directory/service.d/cells.service"
    is "$(bindctl reload --check)" 'changed: bindings'
    echo 'service("lamps", "Lamps.")' > "$directory/service.d/lamps.service"
    is "$(bindctl reload --check)" 'changed: bindings, services'
}

@test "doctor: a configuration that was not applied, needs a restart, or is wrong" {
    echo '{}' > "$directory/binder.conf"
    start_daemon --config "$directory/binder.conf"
    is "$(check config)" "ok: $directory/binder.conf"
    echo '{"limits": {"batch": 7}}' > "$directory/binder.conf"
    is "$(check config)" "warning: $directory/binder.conf: limits changed, and was not applied | bindctl reload"
    is "$(bindctl reload --check)" 'changed: limits'
    is "$(bindctl stats --limits | awk '$1 == "batch" { print $2 }')" 256
    bindctl reload
    is "$(check config)" "ok: $directory/binder.conf"
    chmod 755 "$directory" # the user may open the socket
    chmod 666 "$BINDER_SOCKET"
    echo '{"roles": [{"name": "r", "users": [61000], "methods": ["cells.sett", "lamp.on", "todo.*", "daemon.*"]}]}' > "$directory/binder.conf"
    fault="$directory/binder.conf:1:1: role 'r': there is no method 'cells.sett'; did you mean 'cells.set'?"
    other="$directory/binder.conf:1:1: role 'r': there is no method 'daemon.*'"
    is "$(bindctl reload 2>&1)" "bindctl: warning: $fault"$'\n'"bindctl: warning: $other"$'\n''changed: limits, roles'
    fix='correct the file, then type: bindctl reload'
    is "$(check config)" "warning: $fault | $fix"$'\n'"warning: $other | $fix"
    echo '{"durability": "os"}' > "$directory/binder.conf"
    [[ $(check config) == "warning: $directory/binder.conf: durability changed, and needs a restart | "* ]]
    echo '{"limit": 1}' > "$directory/binder.conf"
    [[ $(check config) == "critical: $directory/binder.conf:1:2: "*" | correct the file, then type: bindctl reload" ]]
    run bindctl doctor
    is "$status" 2
    run --separate-stderr bindctl reload --check
    is "$status" 5
    kill -0 "$daemon"
}

@test "doctor: a binding of a file that could not be made" {
    mkdir "$directory/bind.d"
    printf '%s\n' 'ok: cells/a ~> cells/b' 'alarm: system/lod | pick("/one") ~> cells/alarm' > "$directory/bind.d/a.bind"
    start_daemon --bind-dir "$directory/bind.d"
    is "$(check bindings)" "warning: 'alarm' does not pass values on: no source 'system/lod' | bindctl bindings"
    bindctl bindings | grep -F "$directory/bind.d/a.bind:2" | grep -qF "no source 'system/lod'"
    printf '%s\n' 'ok: cells/a ~> cells/b' > "$directory/bind.d/a.bind"
    bindctl reload
    is "$(check bindings)" 'ok: 1 active'
}

@test "doctor: a state near its limit, and a journal that accepts no writes" {
    echo '{"limits": {"state": 1048576}}' > "$directory/binder.conf"
    start_daemon --config "$directory/binder.conf"
    head -c 220000 /dev/zero | tr '\0' x > "$directory/value"
    for name in a b c d; do bindctl set "cells/$name" "@$directory/value"; done
    [[ $(check state) == 'warning: 860 KiB of 1024 KiB (84 %) | remove values'* ]]
    kill -TERM "$daemon"
    wait "$daemon"
    start_daemon --read-only
    [[ $(check journal) == "critical: $directory/journal.db: 4 events, all since the first; it accepts no writes | "* ]]
}

@test "doctor: the units whose socket answers" {
    start_daemon
    mkdir "$directory/bin"
    cat > "$directory/bin/systemctl" << 'END'
#!/bin/sh
[ "$1" = show ] || exit 1
cat "$UNITS/$2"
END
    chmod +x "$directory/bin/systemctl"
    PATH=$directory/bin:$PATH
    export UNITS=$directory
    printf 'Listen=%s (Stream)\nActiveState=active\nResult=success\n' "$BINDER_SOCKET" > "$directory/binderd.socket"
    printf 'ActiveState=active\nResult=success\nNRestarts=0\n' > "$directory/binderd.service"
    is "$(check binderd.socket)" 'ok: active'
    is "$(check binderd.service)" 'ok: active'
    sed -i s/NRestarts=0/NRestarts=3/ "$directory/binderd.service"
    is "$(check binderd.service)" 'warning: active, restarted 3 times by systemd | journalctl -n 50 -u binderd.service'
    printf 'ActiveState=failed\nResult=service-start-limit-hit\n' >> "$directory/binderd.socket"
    is "$(check binderd.socket)" \
        'critical: failed, result service-start-limit-hit | journalctl -n 50 -u binderd.socket; then systemctl reset-failed binderd.socket'
    sed -i 's/^Listen=.*/Listen=\/run\/other.sock (Stream)/' "$directory/binderd.socket"
    is "$(check unit)" "skipped: $BINDER_SOCKET is not the socket of a unit"
}

# Runs bindctl as another user.
stranger() { env -u BINDER_TRACE setpriv --reuid 65534 --regid 65534 --clear-groups bindctl "$@"; }

@test "doctor: a user of the socket, and one who may not connect" {
    [ "$(id -u)" = 0 ] || skip 'needs root'
    chmod 755 "$directory"
    echo '{"socket_mode": "0666", "roles": [{"name": "guest", "users": ["*"], "methods": ["get"], "read": ["cells/**"]}]}' \
        > "$directory/binder.conf"
    start_daemon --config "$directory/binder.conf"
    run stranger doctor
    is "$status" 0
    grep -qE 'skipped +journal +your role may not call journal.info; run this as root' <<< "$output"
    grep -qE 'ok +group +nobody may connect \(the socket is open to all users\)' <<< "$output"
    echo '{"socket_mode": "0666"}' > "$directory/binder.conf"
    bindctl reload
    run stranger doctor
    is "$status" 2
    grep -q "no role in the daemon's configuration includes this user" <<< "$output"
    grep -q '→ add the user to a role in binder.conf, then type: bindctl reload' <<< "$output"
    chmod 600 "$BINDER_SOCKET"
    run stranger doctor
    is "$status" 2
    grep -qF "nobody may not connect: $BINDER_SOCKET belongs to user root and group root, mode 0600" <<< "$output"
    grep -q '→ ask root, or use another socket with --socket PATH' <<< "$output"
    chgrp 4242 "$BINDER_SOCKET"
    chmod 660 "$BINDER_SOCKET"
    run stranger doctor
    is "$status" 2
    grep -qE 'critical +group +nobody is not a member of 4242' <<< "$output"
    grep -q '→ sudo usermod --append --groups 4242 nobody, then log in again' <<< "$output"
}

@test "slow: off at first, then with the stages, bounded, and without parameters of requests" {
    echo '{}' > "$directory/binder.conf"
    start_daemon --config "$directory/binder.conf"
    run --separate-stderr bindctl slow
    is "$status" 0
    is "$output" ''
    [[ $stderr == 'bindctl: the slow log is off; '* ]]
    echo '{"slow_log": {"ms": 1, "keep": 2}}' > "$directory/binder.conf"
    is "$(bindctl reload)" 'changed: slow_log'
    slow() { # a request that takes more than a millisecond
        printf '%s\n' '{"method":"hello","id":0,"params":{"limits":{"line":1000000}}}' '{"id":1,"method":"rpc.discover"}' \
            '{"id":2,"method":"set","params":{"source":"cells/lamp","value":"secret"}}' | bindctl pipe > /dev/null
        [ "$(bindctl get daemon/slow | jq .count)" -ge 3 ]
    }
    eventually slow
    bindctl get daemon/slow > "$directory/out"
    is "$(jq '.requests | length' "$directory/out")" 2
    is "$(jq .limit_ms "$directory/out")" 1
    is "$(jq '[.requests[] | .total_ms >= 1 and .uid == '"$(id -u)"' and (.method | length > 0)] | all' "$directory/out")" true
    ! grep -q secret "$directory/out"
    is "$(bindctl slow -n 1 | cut -f 2 | wc -l)" 1
    eventually contains log 'warning: slow request: .* took .* ms: wait [0-9.]*, parse '
    [ "$(metric binderd_slow_requests_total)" -ge 3 ]
    echo '{"slow_log": {"ms": -1}}' > "$directory/binder.conf"
    run --separate-stderr bindctl reload
    is "$status" 5
    [[ $stderr == *"$directory/binder.conf:1:21: 'ms'"* ]]
}

# Starts the daemon as systemd does, with a socket in the place of journald's; reads it into the file `told`.
start_logged() { # command...
    # shellcheck disable=SC2016
    unshare --mount bash -c 'set -e
        mkdir -p /run/systemd && mount -t tmpfs none /run/systemd && mkdir /run/systemd/journal
        "${@:2}" &
        exec 2>> "$1/log"
        JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2) exec binderd --config "$1/binder.conf" --socket "$1/bus.sock" \
            --journal "$1/journal.db"' bash "$directory" "$@" 3>&- &
    daemon=$!
    eventually bindctl ping > /dev/null 2>&1
}

@test "the log: fields and message IDs in the systemd journal" {
    [ "$(id -u)" = 0 ] || skip 'needs root'
    echo '{}' > "$directory/binder.conf"
    start_logged bash -c "exec socat -u UNIX-RECV:/run/systemd/journal/socket OPEN:$directory/told,creat,append"
    listens() { bindctl reload && grep -q MESSAGE= "$directory/told"; }
    eventually listens
    eventually has told 'MESSAGE=the configuration was reloaded; changed: nothing'
    eventually has told 'MESSAGE_ID=c41e7a9b5d2f4e68b0a3d6f81c9e7b33'
    eventually has told 'SYSLOG_IDENTIFIER=binderd'
    echo '{"slow_log": {"ms": 1}}' > "$directory/binder.conf"
    bindctl reload
    # The reload may have been slow as well.
    slow() { bindctl set cells/lamp 1 && grep -qxE 'BINDER_METHOD=(set|hello)' "$directory/told"; }
    eventually slow
    eventually has told MESSAGE_ID=1c9d7e5b3f8a4c24b6e0d2a4f8c6b066
    eventually has told "BINDER_UID=$(id -u)"
}

@test "the log: an absent journald gets its lines on standard error, and a full one does not stop the loop" {
    [ "$(id -u)" = 0 ] || skip 'needs root'
    echo '{}' > "$directory/binder.conf"
    start_logged true
    bindctl reload
    eventually has log '<5>the configuration was reloaded; changed: nothing'
    kill_daemon
    start_logged python3 -c 'import socket, time
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind("/run/systemd/journal/socket")
time.sleep(60)'
    dropped() { bindctl reload && [ "$(metric binderd_log_lines_dropped_total)" -gt 0 ]; }
    for _ in {1..30}; do echo '{"id":1,"method":"reload"}'; done > "$directory/in"
    flooded() { bindctl pipe < "$directory/in" > /dev/null && dropped; }
    eventually flooded
    bindctl ping
    [[ $(check log) == 'warning: '*' lines were dropped | '* ]]
}

@test "the catalog explains the messages" {
    command -v journalctl > /dev/null || skip 'journalctl is missing'
    mkdir -p "$directory/root/usr/lib/systemd/catalog" "$directory/root/var/lib/systemd/catalog"
    cp "$BATS_TEST_DIRNAME/../../systemd/binderd.catalog" "$directory/root/usr/lib/systemd/catalog"
    run journalctl --root "$directory/root" --update-catalog
    is "$status" 0
    is "$output" ''
    is "$(journalctl --root "$directory/root" --list-catalog | wc -l)" "$(grep -c '^-- ' "$BATS_TEST_DIRNAME/../../systemd/binderd.catalog")"
}

@test "the watchdog hears nothing of a loop that hangs while the other threads live" {
    command -v strace > /dev/null || skip 'strace is missing'
    socat -u "UNIX-RECV:$directory/notify" "OPEN:$directory/told,creat,append" 3>&- &
    background+=($!)
    eventually [ -S "$directory/notify" ]
    export NOTIFY_SOCKET=$directory/notify WATCHDOG_USEC=200000
    start_daemon
    unset NOTIFY_SOCKET WATCHDOG_USEC
    count() { grep -c WATCHDOG=1 "$directory/told"; }
    more() { [ "$(count)" -gt "$1" ]; }
    eventually more 2
    # The loop's thread hangs in its next wait; the others go on.
    strace -qq -p "$daemon" -e trace=epoll_wait,epoll_pwait -e inject=epoll_wait,epoll_pwait:delay_enter=60s:when=1 \
        2> "$directory/err" 3>&- &
    strace=$!
    # Whether it is stopped by strace, and not only for a moment: strace stops it at each call.
    hangs() {
        for _ in {1..10}; do
            grep -q '^State:.t' "/proc/$daemon/task/$daemon/status" || return 1
            sleep .1
        done
    }
    eventually hangs || { kill "$strace"; skip "strace cannot be used here: $(cat "$directory/err")"; }
    run ! timeout 1 bindctl ping
    before=$(count)
    hangs && hangs # ten intervals
    is "$(count)" "$before"
    [ "$(ls "/proc/$daemon/task" | wc -l)" -gt 1 ]
    kill -KILL "$strace"
    wait "$strace" || true
    eventually more "$before"
}
