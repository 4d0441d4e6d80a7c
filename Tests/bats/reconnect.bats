# Commands that stay connected, when the daemon goes away, crashes at its start, or is not there yet.

load support

setup() { make_place; }

teardown() { remove_place; }

# Listens on the daemon's socket, and closes each connection at once, as a service does that crashes at its start.
# Writes the time of each connection in milliseconds to the file attempts. It is that before the end, because the
# client's pause begins with the end.
crashing_daemon() {
    python3 - "$BINDER_SOCKET" "$directory/attempts" 3>&- << 'END' &
import os, socket, sys, time
path, attempts = sys.argv[1:]
listener = socket.socket(socket.AF_UNIX)
listener.bind(path + ".new")
listener.listen(64)
open(attempts, "w").close()
os.rename(path + ".new", path)
while True:
    connection = listener.accept()[0]
    moment = time.monotonic_ns() // 1_000_000
    connection.close()
    with open(attempts, "a") as file:
        print(moment, file=file, flush=True)
END
    background+=($!)
}

attempts() { [ "$(wc -l < "$directory/attempts")" -ge "$1" ]; } # count

# Runs a command until it is connected, replaces the daemon, and checks the pauses between its attempts.
grows() { # how to see that it is connected, command...
    local condition=$1 previous='' shortest=100 time
    shift
    start_daemon
    beside "$@"
    eventually $condition
    kill_daemon
    crashing_daemon
    eventually test -e "$directory/attempts"
    eventually attempts 5
    while read -r time; do
        # The first pause was before the first attempt.
        if [ -n "$previous" ]; then
            [ $((time - previous)) -ge $((shortest * 98 / 100)) ] || {
                echo "a pause of $((time - previous)) ms, shorter than $shortest ms"
                return 1
            }
            shortest=$((shortest * 2))
        fi
        previous=$time
    done < <(head -n 5 "$directory/attempts")
}

@test "watch waits longer each time for a daemon that crashes at its start" {
    grows 'subscriptions 1' bindctl watch cells/x
}

@test "work waits longer each time for a daemon that crashes at its start" {
    grows 'subscriptions 1' bindctl work w1 -- true
}

@test "serve waits longer each time for a daemon that crashes at its start" {
    grows 'bindctl get providers/lamp' bindctl serve lamp.on=true
}

@test "lock waits longer each time for a daemon that crashes at its start" {
    grows 'bindctl get locks/l' bindctl lock l -- sleep 60
}

@test "open waits longer each time for a daemon that crashes at its start" {
    mkfifo "$directory/in"
    exec 5<> "$directory/in"
    grows 'test -s '"$directory/out" sh -c 'exec bindctl -j open cell name=x < "$0"' "$directory/in"
    exec 5>&-
}

@test "watch --every shows a value that was set while it was not connected" {
    start_daemon
    bindctl set cells/volume 54
    beside bindctl watch cells/volume --every 1s -r
    eventually has out 54
    kill_daemon
    # Where the watcher does not look.
    binderd --socket "$directory/other.sock" --journal "$directory/journal.db" 2>> "$directory/log" 3>&- &
    daemon=$!
    eventually bindctl --socket "$directory/other.sock" set cells/volume 61
    kill_daemon
    start_daemon
    # No change comes later.
    eventually has out 61
}

@test "with --wait-daemon a command waits for a daemon that is not there yet, and goes on" {
    run --separate-stderr bindctl watch cells/x
    is "$status" 3
    beside bindctl watch cells/x --wait-daemon -r
    eventually grep -q "waiting for it" "$directory/err"
    start_daemon
    bindctl set cells/x 5
    eventually has out 5
    kill -TERM "${background[-1]}"
    kill_daemon
    beside bindctl work w1 --wait-daemon -- true
    eventually grep -q "waiting for it" "$directory/err"
    start_daemon
    eventually bindctl get readers/w1
    # -t limits the wait as well.
    kill_daemon
    rm -f "$BINDER_SOCKET"
    run --separate-stderr bindctl -t 300ms events -f --wait-daemon
    is "$status" 124
}

@test "-t ends each command that goes on by itself" {
    start_daemon
    local words
    for words in 'stats --every 1h' 'ping -c 9 -i 1h' 'watch cells/x' 'events -f' 'work w -- true' \
        'serve lamp.on=true' 'bind cells/a~>cells/b' 'set cells/x 1 --while-connected' 'pipe' '-j open cell name=x'; do
        run --separate-stderr bindctl -t 1s $words < <(sleep 60 3>&-)
        is "$words: $status" "$words: 124"
    done
    run ! bindctl get cells/x
}
