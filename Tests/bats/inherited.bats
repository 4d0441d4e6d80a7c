# What a program gets from its parent: descriptors, signals, the environment, /proc.

load support

setup() { make_place; }

teardown() { remove_place; }

# The words before a command that gets ignored or blocked signals, which execve keeps, or no descriptors 0 to 2. The
# next word lists them. The command has the PID of the python program.
ignoring=(python3 -c 'import os, signal, sys
for name in sys.argv[1].split(): signal.signal(getattr(signal, name), signal.SIG_IGN)
os.execvp(sys.argv[2], sys.argv[2:])')
blocking=(python3 -c 'import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [getattr(signal, name) for name in sys.argv[1].split()])
os.execvp(sys.argv[2], sys.argv[2:])')
without=(python3 -c 'import os, sys
for descriptor in sys.argv[1].split(): os.close(int(descriptor))
os.execvp(sys.argv[2], sys.argv[2:])')

# Runs a command where /proc is empty.
without_proc() { unshare -mpf sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$@"; }

@test "a value never becomes a request, whichever of stdin, stdout and stderr are closed" {
    start_daemon
    bindctl set cells/text \
        '"{\"method\": \"cells.set\", \"params\": {\"name\": \"secret\", \"value\": 1}}"'
    for closed in 0 1 2 '0 1' '0 2' '1 2' '0 1 2'; do
        for words in 'get cells/text -r' "get cells/text -F {value}" 'history cells/text -r' \
            'watch cells/text -r -t 1s --no-reconnect' 'events -r -n 1' 'stats -r'; do
            # shellcheck disable=SC2086
            timeout 60 "${without[@]}" "$closed" bindctl $words > "$directory/out" 2> "$directory/err" < /dev/null || true
            run bindctl get cells/secret
            is "$status" 4
        done
    done
}

@test "output to a stdout that is closed is an error" {
    start_daemon
    bindctl set cells/a 5
    for words in 'get cells/a' 'get cells/a -r -q' '--version' 'help' 'help get' 'watch cells/a' 'ps'; do
        status=0
        # shellcheck disable=SC2086
        timeout 60 bindctl $words >&- 2> "$directory/err" || status=$?
        is "$status" 1
        is "$(cat "$directory/err")" 'bindctl: the output cannot be written: Bad file descriptor'
    done
    # A command that prints nothing needs no output.
    bindctl set cells/a 6 >&-
    is "$(bindctl get cells/a 2>&-)" 6
    status=0
    bindctl set cells/a - <&- 2> "$directory/err" || status=$?
    is "$status" 2
    is "$(cat "$directory/err")" 'bindctl: stdin cannot be read: Bad file descriptor'
    for output in '&-' /dev/full; do
        for words in --help --version; do
            for program in binderd binder-web; do
                status=0
                eval "$program $words >$output" 2> "$directory/err" || status=$?
                is "$status" 74
                grep -q 'error: the output cannot be written: ' "$directory/err"
            done
        done
        status=0
        eval "binderd --config /dev/null --check-config >$output" 2> "$directory/err" || status=$?
        is "$status" 74
    done
}

@test "the daemon and its journal survive closed descriptors" {
    for closed in 0 1 2 '0 1 2'; do
        "${without[@]}" "$closed" binderd --config /dev/null --socket "$BINDER_SOCKET" --journal "$directory/journal.db" \
            2>> "$directory/log" 3>&- &
        daemon=$!
        eventually bindctl ping > "$directory/shown" 2>&1
        bindctl set cells/a "\"$closed\""
        is "$(bindctl get cells/a -r)" "$closed"
        kill "$daemon"
        wait "$daemon"
    done
    binderd --journal "$directory/journal.db" --verify > "$directory/shown"
    # No line of the log has gone into the journal or to a client.
    grep -q '4 of 4 events read back' "$directory/shown"
}

@test "commands that run programs notice their end, although SIGCHLD was ignored" {
    start_daemon
    status=0
    timeout 60 "${ignoring[@]}" SIGCHLD bindctl lock L -- sh -c 'exit 7' || status=$?
    is "$status" 7
    status=0
    timeout 60 "${ignoring[@]}" SIGCHLD bindctl session -- sh -c 'exit 8' || status=$?
    is "$status" 8
    bindctl set cells/a 1
    beside "${ignoring[@]}" SIGCHLD bindctl watch cells/a -- sh -c "echo \$BINDER_VALUE >> $directory/values"
    eventually has values 1
    bindctl set cells/a 2
    eventually has values 2
    for i in 1 2 3; do bindctl call lists.append name=jobs value=job-$i > /dev/null; done
    beside "${ignoring[@]}" SIGCHLD bindctl work w --stream lists/jobs --since start -- \
        sh -c "jq -r .event.data.value >> $directory/jobs"
    for i in 1 2 3; do eventually has jobs job-$i; done
    kill "${background[-1]}"
    wait "${background[-1]}" || [ $? = 143 ]
}

@test "signals that the parent has blocked have their effect" {
    start_daemon
    bindctl set cells/a 1
    beside "${blocking[@]}" 'SIGTERM SIGINT SIGCHLD' bindctl watch cells/a
    eventually has out '--- live after 1'
    kill "${background[-1]}"
    status=0
    wait "${background[-1]}" || status=$?
    is "$status" 143
    timeout 60 "${blocking[@]}" 'SIGTERM SIGCHLD' bindctl lock L -- true
}

@test "nohup protects the commands that run programs" {
    start_daemon
    mkfifo "$directory/go"
    beside "${ignoring[@]}" SIGHUP bindctl lock L -- sh -c "echo runs; read -r line < $directory/go; echo \$line"
    eventually has out runs
    kill -HUP "${background[-1]}"
    echo finished > "$directory/go"
    wait "${background[-1]}"
    has out finished
}

@test "the command line needs no /proc" {
    unshare -mpf true 2> "$directory/no" || skip 'no mount namespaces here'
    start_daemon
    without_proc bindctl set cells/a 5
    is "$(bindctl get cells/a)" 5
    is "$(without_proc bindctl get cells/a)" 5
    is "$(without_proc bindctl session -- bindctl get cells/nope 2>&1)" \
        "bindctl: no source 'cells/nope'; 'bindctl get \"cells/**\"' lists those that exist"
    is "$(without_proc binderd --version)" "$(binderd --version)"
    is "$(without_proc binder-web --version)" "$(binder-web --version)"
    is "$(echo 'get cells/a' | without_proc bindctl shell)" 5
    kill "$daemon"
    wait "$daemon"
    without_proc binderd --journal "$directory/journal.db" --verify | grep -q '1 of 1 events read back'
}

@test "without HOME the home directory of the account is used, and never the current one" {
    mkdir "$directory/elsewhere"
    cp "$(command -v binderd)" "$directory/binderd" # the account may not reach the build
    chmod 755 "$directory" "$directory/binderd"
    cd "$directory/elsewhere"
    run env -i "$(command -v setpriv)" --reuid 65534 --regid 65534 --clear-groups "$directory/binderd" --check-config
    home=$(getent passwd 65534 | cut -d : -f 6)
    grep -qxF "journal     $home/.local/state/binder/journal.db" <<< "$output"
    # A relative path in these variables does not count: it would depend on the current directory.
    run env -i XDG_STATE_HOME=state XDG_CONFIG_HOME=. XDG_RUNTIME_DIR=run HOME=/somewhere "$(command -v setpriv)" \
        --reuid 65534 --regid 65534 --clear-groups "$directory/binderd" --check-config
    grep -qxF 'journal     /somewhere/.local/state/binder/journal.db' <<< "$output"
    grep -qF '/somewhere/.config/binder/binder.conf does not exist' <<< "$output"
    grep -qF 'socket      /run/binder/bus.sock' <<< "$output"
    # A user without an account, as in a container.
    run env -i "$(command -v setpriv)" --reuid 3999999 --regid 3999999 --clear-groups "$directory/binderd" --check-config
    grep -qF 'no home directory is known; set HOME or XDG_STATE_HOME, or name the journal with --journal' <<< "$output"
    run env -i "$(command -v setpriv)" --reuid 3999999 --regid 3999999 --clear-groups timeout 60 "$directory/binderd" \
        --socket "$directory/other.sock"
    is "$status" 78
    grep -qF 'no home directory is known; set HOME or XDG_STATE_HOME, or name the journal with --journal' <<< "$output"
    is "$(ls -A "$directory/elsewhere")" ''
}

@test "a dumb terminal gets lines, and no codes" {
    start_daemon
    bindctl set cells/lamp true
    for words in "board 'cells/**'" top 'open cell name=lamp' 'tree cells' 'get cells/lamp'; do
        timeout 60 script -qec "TERM=dumb bindctl $words" /dev/null < /dev/null > "$directory/shown"
        ! grep -q $'\e' "$directory/shown"
    done
    timeout 60 script -qec "TERM=dumb bindctl board 'cells/**'" /dev/null < /dev/null > "$directory/shown"
    grep -q 'cells/lamp.*true' "$directory/shown"
    run timeout 60 script -qec 'TERM=dumb bindctl plot cells/lamp --follow' /dev/null < /dev/null
    [[ $output == *"--follow needs a terminal with a screen, which TERM='dumb' is not"* ]]
}
