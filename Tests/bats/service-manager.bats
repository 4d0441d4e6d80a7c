# The service manager protocol, without a service manager: sd_notify(3), sd_listen_fds(3), WATCHDOG_USEC.

setup() {
    binderd=${BINDERD_BIN:-$BATS_TEST_DIRNAME/../../.build/debug}/binderd
    directory=$(mktemp -d /tmp/binderd-bats.XXXXXX) # short: a socket path is limited to 107 bytes
    socket=$directory/bus.sock
    unset NOTIFY_SOCKET WATCHDOG_USEC WATCHDOG_PID LISTEN_PID LISTEN_FDS LISTEN_FDNAMES
}

teardown() {
    for pid in ${daemon:-} ${manager:-}; do
        kill -KILL "$pid" && wait "$pid" || true
    done 2> /dev/null
    rm -r "$directory"
}

# Retries a command until it succeeds, for at most a minute: on a busy machine everything takes long.
eventually() {
    local end=$((SECONDS + 60))
    while [ "$SECONDS" -lt "$end" ]; do
        if "$@"; then return; fi
        sleep .05
    done
    echo "never: $*"
    cat "$directory/told" "$directory/log"
    return 1
}

# Records the notifications to a service manager.
listen() { # address
    socat -u "$1" - >> "$directory/told" 3>&- &
    manager=$!
}

start() { # environment...
    env "$@" "$binderd" --socket "$socket" --journal "$directory/journal.db" 2> "$directory/log" 3>&- &
    daemon=$!
}

told() { grep -q "^$1\$" "$directory/told"; }

monotonic() { perl -MTime::HiRes=clock_gettime,CLOCK_MONOTONIC -e 'printf "%d", clock_gettime(CLOCK_MONOTONIC) * 1e6'; }

request() { socat -t 60 - "UNIX-CONNECT:$socket" <<< "$1"; }

@test "the manager hears of replay, readiness, reload and end, in this order" {
    listen "UNIX-RECV:$directory/notify"
    eventually [ -S "$directory/notify" ]
    start "NOTIFY_SOCKET=$directory/notify"
    eventually told STATUS=serving # the last message, so that none comes after the file was emptied
    for value in 1 2 3; do request "{\"id\":1,\"method\":\"cells.set\",\"params\":[\"visits\",$value]}"; done
    kill -KILL $daemon
    wait $daemon || true
    : > "$directory/told"
    start "NOTIFY_SOCKET=$directory/notify"
    eventually told STATUS=serving
    before=$(monotonic)
    kill -HUP $daemon
    eventually told RELOADING=1
    kill -TERM $daemon
    wait $daemon
    eventually told STOPPING=1
    sed 's/USEC=.*/USEC=N/' "$directory/told" | diff - <(printf '%s\n' EXTEND_TIMEOUT_USEC=N 'STATUS=replaying 0/3' \
        READY=1 STATUS=serving RELOADING=1 MONOTONIC_USEC=N READY=1 STOPPING=1)
    usec=$(sed -n 's/MONOTONIC_USEC=//p' "$directory/told")
    [ "$before" -le "$usec" ]
    [ "$usec" -le "$(monotonic)" ]
}

@test "the manager is notified at an abstract address too" {
    listen "ABSTRACT-RECV:binderd-bats-$$"
    eventually grep -q "@binderd-bats-$$" /proc/net/unix
    start "NOTIFY_SOCKET=@binderd-bats-$$"
    eventually told READY=1
}

@test "a manager that does not listen is no reason to fail" {
    start "NOTIFY_SOCKET=$directory/nobody"
    eventually request '{"id":1,"method":"ping"}'
    kill -TERM $daemon
    wait $daemon
}

@test "the watchdog hears of it twice in each interval, and of a stopped one no more" {
    listen "UNIX-RECV:$directory/notify"
    eventually [ -S "$directory/notify" ]
    start "NOTIFY_SOCKET=$directory/notify" WATCHDOG_USEC=200000
    eventually told READY=1
    count() { grep -c WATCHDOG=1 "$directory/told"; }
    begin=$SECONDS
    enough() { [ "$(count)" -ge 13 ]; }
    eventually enough
    # At most ten a second, and five more because of the whole seconds.
    [ "$(count)" -le $(((SECONDS - begin + 1) * 10 + 5)) ]
    kill -STOP $daemon
    is_silent() { local before; before=$(count); sleep .5; [ "$(count)" -eq "$before" ]; }
    eventually is_silent
}

@test "a watchdog meant for another process is left to it" {
    listen "UNIX-RECV:$directory/notify"
    eventually [ -S "$directory/notify" ]
    start "NOTIFY_SOCKET=$directory/notify" WATCHDOG_USEC=20000 WATCHDOG_PID=1
    eventually told READY=1
    sleep .3
    [ "$(grep -c WATCHDOG=1 "$directory/told")" -eq 0 ]
}

@test "a socket of the manager is served, and left to it at the end" {
    command -v systemd-socket-activate > /dev/null || skip "needs systemd-socket-activate"
    systemd-socket-activate --listen="$socket" "$binderd" --journal "$directory/journal.db" 2> "$directory/log" 3>&- &
    daemon=$!
    eventually request '{"id":1,"method":"ping"}'
    [ "$(request '{"id":7,"method":"ping"}' | jq .id)" = 7 ]
    kill -TERM $daemon
    wait $daemon
    [ -S "$socket" ]
}

@test "a socket meant for another process is left to it" {
    start LISTEN_FDS=1 LISTEN_PID=1
    eventually request '{"id":1,"method":"ping"}'
    [ "$(request '{"id":7,"method":"ping"}' | jq .id)" = 7 ]
}

@test "the arguments are read although a preloaded library has moved the environment" {
    command -v gcc > /dev/null || skip "no gcc"
    echo '#include <stdlib.h>
__attribute__((constructor)) static void change(void) { setenv("TEST_CHANGE", "1", 1); }' > "$directory/change.c"
    gcc -shared -fPIC -o "$directory/change.so" "$directory/change.c"
    run timeout 60 env STATE_DIRECTORY="$directory" BINDER_SOCKET="$socket" LD_PRELOAD="$directory/change.so" \
        "$binderd" --version 3>&-
    echo "$status: $output"
    [ "$status" -eq 0 ]
    [[ $output == "binderd "* ]]
    [ ! -e "$directory/journal.db" ]
}
