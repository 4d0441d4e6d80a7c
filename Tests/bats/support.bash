# A daemon for each test, in a directory of its own, and what the tests of programs have in common.

bats_require_minimum_version 1.5.0

# Makes the directory and says where the programs and the daemon are.
make_place() {
    PATH=${BINDERD_BIN:-$BATS_TEST_DIRNAME/../../.build/debug}:$PATH
    directory=$(mktemp -d /tmp/binderd-bats.XXXXXX) # short: a socket path has 107 bytes
    export BINDER_SOCKET=$directory/bus.sock
    export BINDER_TRACE=$directory/trace
    unset NOTIFY_SOCKET LISTEN_PID LISTEN_FDS XDG_RUNTIME_DIR NO_COLOR CLICOLOR_FORCE
    background=()
}

# Ends what was started, holds what the daemon has said against the schemas, and removes the directory.
remove_place() {
    for pid in "${background[@]}" ${daemon:-}; do
        if kill -KILL "$pid"; then wait "$pid" || true; fi
    done 2> /dev/null
    local status=0
    [ ! -e "$directory/trace" ] || "$BATS_TEST_DIRNAME/check-frames" "$directory/trace" || status=$?
    rm -r "$directory"
    return "$status"
}

start_daemon() { # options...
    binderd --socket "$BINDER_SOCKET" --journal "$directory/journal.db" "$@" 2>> "$directory/log" 3>&- &
    daemon=$!
    eventually bindctl ping > /dev/null 2>&1
}

# Ends the daemon as a power failure would.
kill_daemon() {
    kill -KILL "$daemon"
    wait "$daemon" || true
}

# Runs a command beside the test; its words go to the files out and err.
beside() { # command...
    : > "$directory/out" # now: a test may look before the shell beside has begun
    "$@" > "$directory/out" 2> "$directory/err" 3>&- &
    background+=($!)
}

# Waits at most ten seconds until a command succeeds.
eventually() { # command...
    for _ in {1..200}; do
        if "$@"; then return; fi
        sleep .05
    done
    echo "never: $*"
    tail -n 20 "$directory"/{out,err,log} || true
    return 1
}

# Whether a file holds a line.
has() { grep -qxF -e "$2" "$directory/$1"; } # file line

# Fails unless two texts are the same, and shows both.
is() { # found wanted
    [ "$1" = "$2" ] && return
    printf 'found:  %s\nwanted: %s\n' "$1" "$2"
    return 1
}
