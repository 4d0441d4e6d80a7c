# Shared helpers: each test has its own daemon in its own directory.

bats_require_minimum_version 1.5.0

# Creates the directory and sets the paths of the programs and the socket.
make_place() {
    PATH=${BINDERD_BIN:-$BATS_TEST_DIRNAME/../../.build/debug}:$PATH
    directory=$(mktemp -d /tmp/binderd-bats.XXXXXX) # short: a socket path is limited to 107 bytes
    export BINDER_SOCKET=$directory/bus.sock
    export BINDER_TRACE=$directory/trace
    unset NOTIFY_SOCKET LISTEN_PID LISTEN_FDS XDG_RUNTIME_DIR NO_COLOR CLICOLOR_FORCE
    background=()
}

# Starts a daemon that reads services from service.d in the directory of the test, which becomes the current one.
start_with_services() {
    make_place
    cd "$directory"
    mkdir service.d
    echo '{}' > binder.conf
    start_daemon --config "$directory/binder.conf"
}

# Kills all processes of the test, checks the daemon's frames against the schema, and removes the directory.
remove_place() {
    for pid in "${background[@]}" ${daemon:-}; do
        if kill -KILL "$pid"; then wait "$pid" || true; fi
    done 2> /dev/null
    # What they have started goes on, for example a stream that waits for the daemon.
    local status=0
    eventually nothing_runs || status=1
    [ ! -e "$directory/trace" ] || "$BATS_TEST_DIRNAME/check-frames" "$directory/trace" || status=$?
    rm -r "$directory"
    return "$status"
}

# Kills all processes that have a path of the place in their environment, and succeeds if there are none.
nothing_runs() {
    local files file pid
    files=$(grep -lsF "$directory/" /proc/[0-9]*/environ) || true
    for file in $files; do
        pid=${file#/proc/}
        kill -KILL "${pid%/*}" 2> /dev/null || true
    done
    [ -z "$files" ]
}

start_daemon() { # options...
    binderd --socket "$BINDER_SOCKET" --journal "$directory/journal.db" "$@" 2>> "$directory/log" 3>&- &
    daemon=$!
    eventually bindctl ping > /dev/null 2>&1
}

# Kills the daemon without a clean shutdown.
kill_daemon() {
    kill -KILL "$daemon"
    wait "$daemon" || true
}

# Runs a command in the background; its output goes to the files out and err.
beside() { # command...
    # Before the background shell starts, because the test may read them first.
    : > "$directory/out"
    : > "$directory/err"
    "$@" > "$directory/out" 2> "$directory/err" 3>&- &
    background+=($!)
}

# Retries a command until it succeeds, for at most a minute: on a busy machine everything takes long.
eventually() { # command...
    local end=$((SECONDS + 60))
    while [ "$SECONDS" -lt "$end" ]; do
        if "$@"; then return; fi
        sleep .05
    done
    echo "never: $*"
    tail -n 20 "$directory"/{out,err,log} || true
    return 1
}

# Succeeds if a command fails.
not() { ! "$@"; } # command...

# Succeeds if a file of the test has a line that matches.
contains() { grep -qE -e "$2" "$directory/$1"; } # file pattern

# Succeeds if a process has ended; one that nobody waits for may be a zombie. One look: between two, a zombie can vanish.
gone() { ! grep -q '^State:.[^ZX]' "/proc/$1/status" 2> "$directory/no"; } # pid

# Succeeds if the daemon has so many subscriptions.
subscriptions() { [ "$(bindctl stats -F '{stats.subscriptions}')" = "$1" ]; } # count

# True when a program accepts connections at a path. The file appears a moment before: between bind and listen the kernel
# refuses connections.
listens() { # path
    awk -v path="$1" '$4 == "00010000" && $8 == path { found = 1 } END { exit !found }' /proc/net/unix
}

# Waits until so many lines of the trace contain a text: what the clients have sent, and what they got.
traced() { # text [count]
    enough() { [ "$(grep -cF -e "$1" "$BINDER_TRACE")" -ge "$2" ]; }
    eventually enough "$1" "${2:-1}"
}

# Succeeds if a file contains the line.
has() { grep -qxF -e "$2" "$directory/$1"; } # file line

# Fails unless two texts are equal, and prints both.
is() { # found wanted
    [ "$1" = "$2" ] && return
    printf 'found:  %s\nwanted: %s\n' "$1" "$2"
    return 1
}
