# The choice of the journal by the journal commands.

load support

setup() { make_place; }

teardown() { remove_place; }

# Runs bindctl as another user, who can run it, open the socket and write to a home directory.
as_user() { # uid arguments...
    [ "$(id -u)" = 0 ] || skip "only root can become other users"
    cp -n "$(command -v bindctl)" "$(command -v binderd)" "$directory"
    chmod 755 "$directory" "$directory/bindctl" "$directory/binderd"
    mkdir -p "$directory/home"
    chown "$1" "$directory/home"
    HOME=$directory/home TMPDIR=$directory/home run --separate-stderr \
        setpriv --reuid "$1" --regid "$1" --clear-groups "$directory/bindctl" "${@:2}"
}

# Writes a configuration that lets the user 4001 call everything but the journal methods.
configure() {
    config=$directory/binder.conf
    cat > "$config" <<'END'
{ "socket_mode": "0666",
  "roles": [ { "name": "user", "users": [4001], "methods": { "allow": ["**"], "deny": ["journal.**"] },
               "read": ["**"], "write": ["**"] } ] }
END
}

@test "who may not ask the daemon for its journal gets no other one" {
    configure
    # A journal of that user, from a daemon that has ended.
    as_user 4001 session --journal "$directory/home/own.db" "$directory/bindctl" set cells/mine 1
    is "$status" 0
    mkdir -p "$directory/home/.local/state/binder"
    mv "$directory/home/own.db" "$directory/home/.local/state/binder/journal.db"
    chown -R 4001 "$directory/home"
    start_daemon --config "$config"
    bindctl set cells/a 1
    for words in "backup $directory/home/b.db" verify "export $directory/home/b.jsonl" "restore $directory/home/x --force"; do
        # shellcheck disable=SC2086
        as_user 4001 journal $words
        is "$status" 5
        is "$stderr" "bindctl: permission denied: your role may not ask the daemon at $BINDER_SOCKET for its journal (journal.info); run this as root or as the daemon's user, or name a file with --file JOURNAL"
        is "$output" ''
    done
    is "$(ls "$directory/home")" own.db.lock
    # With --file it works.
    as_user 4001 journal backup "$directory/home/b.db" --file "$directory/home/.local/state/binder/journal.db"
    is "$status" 0
    # A socket that the user may not open may belong to a daemon.
    chmod 600 "$BINDER_SOCKET"
    as_user 4001 journal verify
    is "$status" 5
    [[ $stderr == *'Permission denied'*'name the journal with --file JOURNAL' ]]
}

@test "a journal with a relative path is found from everywhere, and no other one" {
    mkdir "$directory/one" "$directory/two"
    (cd "$directory/one" && exec binderd --socket "$BINDER_SOCKET" --journal journal.db 2>> "$directory/log" 3>&-) &
    daemon=$!
    eventually bindctl ping > "$directory/no" 2>&1
    bindctl set cells/a 1
    cd "$directory/two"
    bindctl session --journal journal.db bindctl set cells/b 1
    is "$(bindctl journal info -j | jq -r .path)" "$directory/one/journal.db"
    bindctl journal backup copy.db
    is "$(bindctl session --journal copy.db bindctl get 'cells/**')" $'cells/a\t1'
}

@test "behind a forwarded socket no journal of this machine is taken" {
    mkdir "$directory/state"
    journal=$directory/state/journal.db
    # Only the daemon sees this mount, as if it ran on another machine.
    unshare -m true 2> "$directory/no" || skip 'no mount namespaces here'
    unshare -m sh -c 'mount -t tmpfs tmpfs "$0" && exec "$@"' "$directory/state" \
        binderd --socket "$BINDER_SOCKET" --journal "$journal" 2>> "$directory/log" 3>&- &
    daemon=$!
    eventually bindctl ping > "$directory/no" 2>&1
    bindctl set cells/a 1
    run --separate-stderr bindctl journal backup "$directory/b.db"
    is "$status" 1
    is "$stderr" "bindctl: the daemon at $BINDER_SOCKET has its journal at $journal, which cannot be read here (No such file or directory); run this where the daemon runs, as root or as its user, or name a file with --file JOURNAL"
    bindctl session --journal "$journal" bindctl set cells/mine 1
    for words in "backup $directory/b.db" verify "export $directory/b.db"; do
        # shellcheck disable=SC2086
        run --separate-stderr bindctl journal $words
        is "$status" 1
        [[ $stderr == "binderd: $journal is another journal: its epoch is "*', but the daemon reported '*'; run this where that daemon runs, or name a file (bindctl: --file)' ]]
        is "$output" ''
    done
    [ ! -e "$directory/b.db" ]
}

@test "a daemon that was named and does not answer is not replaced by a journal that is there" {
    export XDG_STATE_HOME=$directory/state
    mkdir -p "$directory/state/binder"
    for words in "backup $directory/b.db" verify "restore $directory/b.db"; do
        # shellcheck disable=SC2086
        run --separate-stderr bindctl journal $words
        is "$status" 3
        is "$stderr" "bindctl: no daemon answers: tried $BINDER_SOCKET (\$BINDER_SOCKET: No such file or directory); name the journal with --file JOURNAL"
    done
}
