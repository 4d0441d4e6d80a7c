# The advice of messages: each is typed as it is printed, where it is printed, and must help.

load support

setup() { make_place; }

teardown() { remove_place; }

# Runs bindctl, which must fail, and keeps its advice: the text after the last "; " or ": ".
fails() { # argument...
    run --separate-stderr bindctl "$@"
    echo "\$ bindctl $*"$'\n'"$stderr"
    [ "$status" -ne 0 ]
    advice=$stderr
}

# Types the command behind a phrase of the advice.
types_after() { # phrase
    [[ $advice == *"$1"* ]]
    command=${advice##*"$1"}
    command=${command%%, then log in again*}
    command=${command%%; see *}
    eval "${command%\?*}"
}

# Runs a command as a user without an account in the test.
as_stranger() { env -u BINDER_TRACE setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }

@test "no daemon answers: the daemon is started as the message says" {
    export BINDER_SOCKET="$directory/a place/bus.sock"
    fails ping
    [[ $advice == *"; start one with: binderd --socket '$BINDER_SOCKET'" ]]
    # The advice names no journal; here it is that of the test.
    export STATE_DIRECTORY=$directory CONFIGURATION_DIRECTORY=$directory
    command=${advice##*"start one with: "}
    eval "exec $command" 2>> "$directory/log" 3>&- &
    background+=($!)
    eventually bindctl ping > "$directory/shown" 2>&1
}

@test "no daemon answers where one cannot be started: a session is offered, and works" {
    [ "$(id -u)" = 0 ] || skip 'needs root'
    mkdir "$directory/bin"
    cp "$(command -v bindctl)" "$(command -v binderd)" "$directory/bin"
    chmod 755 "$directory"
    run --separate-stderr as_stranger "$directory/bin/bindctl" --socket "$directory/none.sock" ping
    is "$status" 3
    [[ $stderr == *'; try one for a shell of its own: bindctl session -- bash' ]]
    is "$(PATH=$directory/bin:$PATH TMPDIR=/tmp HOME=/nonexistent as_stranger bindctl session -- bash -c 'bindctl set cells/a 1; bindctl get cells/a')" 1
}

@test "no daemon answers where units are installed: the unit is started" {
    unshare -m true 2> "$directory/no" || skip 'no mount namespaces here'
    mkdir "$directory/bin"
    cat > "$directory/bin/systemctl" << 'END2'
#!/bin/sh
[ "$1 $2" = 'start binderd.socket' ] || exit 1
echo started > "$STARTED"
END2
    chmod +x "$directory/bin/systemctl"
    export STARTED=$directory/started
    unset BINDER_SOCKET
    # shellcheck disable=SC2016
    unshare -m bash -c 'mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system && touch /run/systemd/system/binderd.socket
        PATH=$1/bin:$PATH
        bindctl ping 2> "$1/err"
        eval "$(sed "s/.*; start it with: //" "$1/err")"' bash "$directory"
    is "$(cat "$directory/started")" started
}

@test "a path that is too long names the limit, and a session finds a shorter one" {
    long=$directory/$(printf 'x%.0s' {1..120})
    mkdir "$long"
    fails --socket "$long/bus.sock" ping
    [[ $advice == *"; the path of a socket has at most 107 bytes, and this one has $((${#long} + 9)); use a shorter one with --socket PATH" ]]
    status=0
    binderd --config /dev/null --journal "$directory/journal.db" --socket "$long/bus.sock" 2> "$directory/err" || status=$?
    is "$status" 69
    grep -qF "the path of a socket has at most 107 bytes, and this one has $((${#long} + 9))" "$directory/err"
    is "$(TMPDIR=$long bindctl session -- sh -c 'bindctl set cells/a 1; bindctl get cells/a')" 1
}

@test "a file that is no socket is named as such" {
    echo text > "$directory/file"
    fails --socket "$directory/file" ping
    [[ $advice == *'; this file is no socket; use another path with --socket PATH' ]]
}

@test "a socket of others: the group is advised only where it helps" {
    [ "$(id -u)" = 0 ] || skip 'needs root'
    cp "$(command -v bindctl)" "$directory/bindctl"
    chmod 755 "$directory"
    start_daemon
    run --separate-stderr as_stranger "$directory/bindctl" ping
    is "$status" 5
    [[ $stderr == *"mode 0600; ask root, or use another socket with --socket PATH" ]]
    chgrp 4242 "$BINDER_SOCKET"
    chmod 660 "$BINDER_SOCKET"
    run --separate-stderr as_stranger "$directory/bindctl" ping
    [[ $stderr == *"nobody is not in this group: sudo usermod --append --groups 4242 nobody, then log in again" ]]
    is "$(env -u BINDER_TRACE setpriv --reuid 65534 --regid 65534 --groups 4242 "$directory/bindctl" ping 2>&1 | grep -c usermod)" 0
    # After 'su' the variable is still that of the other user.
    mkdir -m 700 "$directory/runtime"
    run --separate-stderr env -u BINDER_SOCKET -u BINDER_TRACE XDG_RUNTIME_DIR="$directory/runtime" \
        setpriv --reuid 65534 --regid 65534 --clear-groups "$directory/bindctl" ping
    is "$status" 5
    [[ $stderr == *'; XDG_RUNTIME_DIR is that of another user; type: unset XDG_RUNTIME_DIR' ]]
}

@test "names and commands that people try first" {
    start_daemon
    fails set lamp true
    [[ $advice == *"did you mean 'cells/lamp'? A name begins with its service" ]]
    fails get cell/lamp
    [[ $advice == *"did you mean 'cells/lamp'?" ]]
    for pair in ls:tree list:tree rm:remove delete:remove log:events revert:undo status:doctor \
        'dump:journal export' 'users:stats --users' monitor:watch 'restart:systemctl restart binderd' edit:set \
        'stop:systemctl stop binderd' find:tree rollback:undo 'simulate:bind --try' less:get \
        'cp:get OLD | bindctl set NEW -' 'mv:atomic -- set NEW VALUE -- call cells.remove name=OLD' \
        'rename:atomic -- set NEW VALUE -- call cells.remove name=OLD'; do
        fails "${pair%:*}"
        is "$advice" "bindctl: unknown command '${pair%:*}': did you mean '${pair#*:}'? See 'bindctl help'"
    done
    bindctl set cells/lamp true
    # What they name works.
    bindctl get cells/lamp | bindctl set cells/light -
    bindctl atomic -- set cells/lantern true -- call cells.remove name=lamp
    is "$(bindctl get 'cells/**')" $'cells/lantern\ttrue\ncells/light\ttrue'
    bindctl remove 'cells/**' --yes > "$directory/shown" 2>&1
    bindctl set cells/lamp true
    fails history cells/lamp --since 1h
    is "$advice" "bindctl: '1h' is not a time; did you mean '-1h'? See 'bindctl help when'"
    bindctl history cells/lamp --since -1h > "$directory/shown"
    for command in is wait; do
        fails "$command" 'maps/none exists'
        is "$advice" "bindctl: 'maps/none' exists even if it is empty; use 'maps/none != {}'; see 'bindctl help $command'"
        fails "$command" 'lists/none !exists'
    done
    run bindctl is 'maps/none != {}'
    is "$status" 1
    run bindctl is 'lists/none == []'
    is "$status" 0
    bindctl call maps.put name=app key=port value:=8080 > "$directory/shown"
    run --separate-stderr bindctl get maps/app/port
    is "$output" '{}'
    is "$stderr" "bindctl: the map 'maps/app/port' is empty; did you mean: bindctl get maps/app --pick /port"
    advice=$stderr
    is "$(types_after 'did you mean: ')" 8080
    local meant="bindctl: the map 'maps/app/port' is empty; did you mean: 'maps/app' with --pick /port"
    run --separate-stderr bindctl is 'maps/app/port == 8080'
    is "$stderr" "$meant"
    suggests() { grep -qxF "$meant" "$directory/err"; }
    beside bindctl wait 'maps/app/port == 8080'
    eventually suggests
    beside bindctl watch maps/app/port
    eventually suggests
    bindctl is 'maps/app == 8080' --pick /port
    run --separate-stderr bindctl get maps/other
    is "$stderr" ''
    fails get cells/nope
    [[ $advice == *"; 'bindctl get \"cells/**\"' lists those that exist" ]]
    is "$(bindctl get "cells/**")" $'cells/lamp\ttrue'
    run --separate-stderr bindctl bind --daemon 'maps/app/port ~> cells/port'
    is "${stderr##*$'\n'}" "bindctl: the map 'maps/app/port' is empty; did you mean: maps/app | pick(\"/port\")"
    bindctl bind --daemon 'maps/app | pick("/port") ~> cells/port' > "$directory/shown"
    bindctl wait cells/port 8080 > "$directory/shown"
}

@test "a daemon that does not start at boot: doctor, reload and bind say so, with the command" {
    mkdir "$directory/bin"
    cat > "$directory/bin/systemctl" << 'END2'
#!/bin/sh
case $1 in
show) cat "$UNITS/$2" ;;
enable) sed -i s/disabled/enabled/ "$UNITS/$2" ;;
*) exit 1 ;;
esac
END2
    chmod +x "$directory/bin/systemctl"
    PATH=$directory/bin:$PATH
    export UNITS=$directory
    printf 'Listen=%s (Stream)\nActiveState=active\nResult=success\n' "$BINDER_SOCKET" > "$directory/binderd.socket"
    printf 'ActiveState=active\nResult=success\nNRestarts=0\nUnitFileState=disabled\n' > "$directory/binderd.service"
    echo '{}' > "$directory/binder.conf"
    start_daemon --config "$directory/binder.conf"
    warning='binderd.service is not enabled: after a boot, bindings run only after the first client'
    is "$(bindctl reload 2>&1)" 'changed: nothing'
    bindctl set cells/a 1
    run --separate-stderr bindctl bind --daemon 'cells/a ~> cells/b'
    is "$stderr" "bindctl: $warning; to start it at boot: systemctl enable binderd.service"
    is "$(bindctl reload 2>&1)" "bindctl: $warning; to start it at boot: systemctl enable binderd.service"$'\nchanged: nothing'
    bindctl doctor -j | jq -r '.checks[] | select(.name == "boot") | "\(.state): \(.text) | \(.fix)"' > "$directory/shown" || true
    is "$(cat "$directory/shown")" "warning: $warning | systemctl enable binderd.service"
    advice=$stderr
    types_after 'to start it at boot: '
    is "$(bindctl reload 2>&1)" 'changed: nothing'
    run --separate-stderr bindctl bind --daemon 'cells/c ~> cells/d'
    is "$stderr" 'bindctl: cells/c has no value yet'
}

@test "a role for a user who may not open the socket: reload, doctor, acl check and the log say so" {
    [ "$(id -u)" = 0 ] || skip 'needs root'
    echo '{"roles": [{"name": "staff", "users": [61000], "methods": ["get"], "read": ["**"]}]}' > "$directory/binder.conf"
    chmod 755 "$directory"
    start_daemon --config "$directory/binder.conf"
    chgrp 4242 "$BINDER_SOCKET"
    chmod 660 "$BINDER_SOCKET"
    command='sudo usermod --append --groups 4242 61000'
    [[ $(bindctl reload 2>&1) == *"role 'staff': user 61000 may not open $BINDER_SOCKET; type: $command"* ]]
    eventually grep -qF "role 'staff': user 61000 may not open $BINDER_SOCKET; type: $command" "$directory/log"
    bindctl doctor -j > "$directory/doctor" || true
    is "$(jq -r '.checks[] | select(.name == "config") | .fix' "$directory/doctor")" "$command"
    run --separate-stderr bindctl acl check 61000 get
    is "$status" 0
    is "$stderr" "bindctl: 61000 may not open $BINDER_SOCKET; type: $command"
    chmod 666 "$BINDER_SOCKET"
    is "$(bindctl reload 2>&1)" 'changed: nothing'
    run --separate-stderr bindctl acl check 61000 get
    is "$stderr" ''
}

@test "a relative path of the socket, and a mode that no group helps against" {
    [ "$(id -u)" = 0 ] || skip 'needs root'
    echo '{"roles": [{"name": "staff", "users": [61000], "methods": ["get"], "read": ["**"]}]}' > "$directory/binder.conf"
    chmod 755 "$directory"
    cd "$directory"
    BINDER_SOCKET=v.sock
    start_daemon --config "$directory/binder.conf"
    chmod 600 v.sock
    run --separate-stderr bindctl acl check 61000 get
    is "$status" 0
    advice='set "socket_mode": "0666" in binder.conf and restart the daemon, or SocketMode=0666 in the socket unit'
    reason="$directory/v.sock belongs to user root and group root, mode 0600"
    is "$stderr" "bindctl: 61000 may not open v.sock: $reason; to admit the user, $advice"
    run --separate-stderr bindctl --socket "$directory/v.sock" acl check 61000 get
    is "$stderr" "bindctl: 61000 may not open $directory/v.sock: $reason; to admit the user, $advice"
    bindctl doctor -j > "$directory/doctor" || true
    is "$(jq -r '.checks[] | select(.name == "config") | .fix' "$directory/doctor")" "$advice"
    chmod 700 "$directory"
    run --separate-stderr bindctl acl check 61000 get
    [[ $stderr == *"; to admit the user, let others pass $directory (chmod o+x), or move the socket" ]]
}

@test "on a terminal doctor breaks no word, and bindings have a header" {
    start_daemon
    bindctl bind --daemon 'cells/a ~> cells/b' > "$directory/shown"
    script -qec 'stty cols 60; bindctl doctor --color never' /dev/null < /dev/null > "$directory/shown" || true
    grep -qE '^ {21}[^ ]' "$directory/shown"
    LC_ALL=C.UTF-8 run ! grep -qE '.{62}' <(tail -n +2 "$directory/shown")
    script -qec 'bindctl bindings --color never --no-pager' /dev/null < /dev/null | grep -qE '^NAME +BINDING'
    is "$(bindctl bindings)" $'1\tcells/a ~> cells/b\tnever\t\t\tno value yet: cells/a'
    fails bind --since -1d 'cells/a ~> cells/c'
    is "$advice" "bindctl: '--since' is for '--try', which is missing; nothing was changed; see 'bindctl help bind'"
    fails reload --limit 5
    fails bind --try --daemon 'cells/a ~> cells/c'
    is "$advice" "bindctl: --try and --daemon cannot be used together; see 'bindctl help bind'"
    fails bind --try --limit 5000 'cells/a ~> cells/c'
    is "$advice" "bindctl: --limit takes 0 to 1000, not '5000'; see 'bindctl help bind'"
    # A person reads local times, here that of the last write.
    bindctl set cells/a 5
    eventually bindctl is cells/b 5
    TZ=XYZ-5 script -qec 'bindctl bindings --color never --no-pager' /dev/null < /dev/null > "$directory/shown"
    hours=$(bindctl events -n 2 -F '{event.time}' | while read -r time; do TZ=XYZ-5 date -d "$time" +%H; done | paste -sd'|')
    grep -qE "($hours):[0-9]{2}" "$directory/shown"
}

@test "remove says what empties a list or a map" {
    start_daemon
    bindctl call lists.append name=shop value=milk
    fails remove lists/shop
    types_after "emptied with: "
    [ "$(bindctl get lists/shop)" = '[]' ]
    bindctl call maps.put name=app key=a value:=1
    fails remove maps/app
    types_after "emptied with: "
    [ "$(bindctl get maps/app)" = '{}' ]
}
