# The configuration file and access rights, for administrators and for refused users.

load support

setup() {
    make_place
    config=$directory/binder.conf
    cat > "$config" <<'END'
{
  "socket_mode": "0666", // the roles say who may
  "roles": [
    { "name": "panel", "users": [4001],
      "methods": { "allow": ["cells.*"], "deny": ["cells.remove"] },
      "read": ["cells/**"], "write": ["cells/lamp"] },
  ],
}
END
}

teardown() { remove_place; }

# Runs bindctl as another user, who can read the program and open the socket.
as_user() { # uid arguments...
    [ "$(id -u)" = 0 ] || skip "only root can become other users"
    cp -n "$(command -v bindctl)" "$directory/bindctl"
    chmod 755 "$directory" "$directory/bindctl"
    run --separate-stderr setpriv --reuid "$1" --regid "$1" --clear-groups "$directory/bindctl" "${@:2}"
}

@test "binderd --check-config says what it would do, and what is wrong in every line" {
    run binderd --check-config "$BATS_TEST_DIRNAME/../../Configuration/binder.conf"
    is "$status" 0
    [[ ${lines[0]} == *"Configuration/binder.conf is valid" ]]
    run binderd --journal /tmp/j.db --check-config "$config"
    is "$status" 0
    [[ $output == *"journal     /tmp/j.db"* ]]
    [[ $output == *"role        owner: root and the user of the daemon, everything"* ]]
    [[ $output == *"role        panel: users 4001; methods cells.* but cells.remove; read cells/**; write cells/lamp"* ]]
    printf '{\n "limits": { "batch": 0 },\n "rolse": [] }' > "$config"
    run binderd --check-config="$config"
    is "$status" 78
    is "$output" "$config:2:23: 'batch' is an integer from 1 to 65536, not 0
$config:3:2: the configuration has no member 'rolse'; did you mean 'roles'?"
    run binderd --config "$config" --socket "$BINDER_SOCKET" --journal "$directory/j.db"
    is "$status" 78
    [ ! -e "$directory/j.db" ]
}

@test "a configuration that others may write, or that is not there, is none" {
    chmod 666 "$config"
    run binderd --check-config "$config"
    is "$status" 78
    is "$output" "$config: everybody may write it"
    run binderd --check-config "$directory/nothing"
    is "$status" 78
    is "$output" "$directory/nothing: No such file or directory"
    HOME=$directory XDG_CONFIG_HOME=$directory/none CONFIGURATION_DIRECTORY=$directory/none run binderd --check-config
    is "$status" 0
    is "${lines[0]}" "$directory/none/binder.conf does not exist; using the defaults"
}

@test "bindctl reload takes a configuration over, or says what is wrong and changes nothing" {
    chmod 755 "$directory" # the user of the role may open the socket
    start_daemon --config "$config"
    run bindctl reload
    is "$status/$output" "0/changed: nothing"
    sed -i 's|"write": .*}|"write": [] }|; 2i "journal": "/elsewhere.db", "limits": { "batch": 7 },' "$config"
    run --separate-stderr bindctl reload
    is "$status/$output" "0/changed: limits, roles"
    is "$stderr" "bindctl: journal: takes effect only after a restart"
    is "$(bindctl stats --limits --json | jq .limits.batch)" 7
    echo '{ "limits": { "batch": "many" } }' > "$config"
    run --separate-stderr bindctl reload
    is "$status/$output" 5/
    is "$stderr" "bindctl: $config:1:24: 'batch' is an integer from 1 to 65536, not \"many\"
bindctl: the configuration was not changed"
    is "$(bindctl stats --limits --json | jq .limits.batch)" 7
}

@test "bindctl acl check says what somebody may do, and by which line" {
    chmod 755 "$directory"
    start_daemon --config "$config"
    run bindctl acl check 4001 cells.set
    is "$status/$output" "0/allowed as 'panel': 'methods' allows \"cells.*\" ($config:5)"
    run bindctl acl check 4001 cells.remove
    is "$status/$output" "1/denied as 'panel': 'methods' denies \"cells.remove\" ($config:5)"
    run bindctl acl check 4001 --write cells/door
    is "$status/$output" "1/denied as 'panel': 'write' does not allow it ($config:4)"
    run bindctl acl check 4001 get
    is "$status/$output" "0/allowed as 'panel': 'read' and 'write' decide what it may do"
    run bindctl acl check 4002 --read cells/lamp --json
    is "$status/$output" '1/{"allowed":false,"rule":"it has no role and may not connect"}'
    run bindctl acl check root reload
    is "$status/$output" "0/allowed as 'owner': root and the user of the daemon may do everything"
    run --separate-stderr bindctl acl check nobody-of-that-name ping
    is "$status/$stderr" "4/bindctl: there is no user 'nobody-of-that-name' on this machine"
    run --separate-stderr bindctl acl check 4001
    is "$status" 2
}

@test "24: a socket that may not be opened is exit 5, with its owner and mode" {
    start_daemon
    as_user 4002 ping
    is "$status" 5
    is "$stderr" "bindctl: permission denied: tried $BINDER_SOCKET (\$BINDER_SOCKET: Permission denied); $BINDER_SOCKET belongs to user root and group root, mode 0600; ask root, or use another socket with --socket PATH"
}

@test "24: a user without a role gets a reason, and a stream does not reconnect" {
    start_daemon --config "$config"
    for command in ping "watch cells/lamp"; do
        as_user 4002 $command
        is "$status" 5
        is "$stderr" "bindctl: permission denied: no role in the daemon's configuration includes this user; ask its administrator"
    done
    eventually contains log "refused uid 4002 pid"
}

@test "a user sees and does what the role allows, and nothing else is there" {
    start_daemon --config "$config"
    bindctl set cells/lamp true
    bindctl set lists/a '[1]'
    as_user 4001 get 'cells/**' -j
    is "$status/$(jq -c '[.source, .value]' <<< "$output")" '0/["cells/lamp",true]'
    as_user 4001 set cells/lamp false
    is "$status" 0
    as_user 4001 set cells/door 1
    is "$status/$stderr" "5/bindctl: permission denied: role 'panel' may not write cells/door"
    as_user 4001 get lists/a
    is "$status" 4
    as_user 4001 remove cells/lamp
    is "$status" 4
    as_user 4001 services -r
    is "$output" cells
    eventually contains log "refused uid 4001 pid [0-9]*: to call cells.remove, as panel"
}

@test "a session from a daemon that may not be asked for its journal names its own option" {
    start_daemon --config "$config"
    as_user 4001 session --from "$BINDER_SOCKET" -- true
    is "$status" 5
    [[ $stderr == *"your role may not ask the daemon at $BINDER_SOCKET for its journal (journal.info); run this as root or as the daemon's user, or name a file with --from JOURNAL" ]]
    as_user 4001 journal verify
    [[ $stderr == *"or name a file with --file JOURNAL" ]]
}
