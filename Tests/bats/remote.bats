# The daemon of another machine: bindctl -H, the programs that it runs, and a forwarded socket.

load support

setup() {
    make_place
    unset BINDER_HOST
}

teardown() { remove_place; }

# Puts a program in place of ssh: it notes its arguments, and runs the command in another environment.
place_ssh() {
    mkdir -p "$directory/bin" "$directory/far/binder"
    cat > "$directory/bin/ssh" << 'END'
#!/bin/bash
printf '%s\n' "$*" >> "$PLACE/ssh-arguments"
[ ! -e "$PLACE/ssh-fails" ] || { echo 'ssh: connect to host box port 22: No route to host' >&2; exit 255; }
while [ "$1" != -- ]; do shift; done
shift 2
cd / && exec env -i PATH="$FAR_PATH" XDG_RUNTIME_DIR="$PLACE/far" HOME="$PLACE/far" bash -c "$*"
END
    chmod +x "$directory/bin/ssh"
    export PLACE=$directory FAR_PATH=$PATH
    PATH=$directory/bin:$PATH
}

start_far() {
    binderd --config /dev/null --socket "$directory/far/binder/bus.sock" --journal "$directory/far/journal.db" \
        2>> "$directory/log" 3>&- &
    far=$!
    background+=($!)
    eventually bindctl --socket "$directory/far/binder/bus.sock" ping > /dev/null 2>&1
}

@test "-H uses the daemon of the other machine, and no local one" {
    start_daemon
    bindctl set cells/lamp here
    place_ssh
    start_far
    bindctl -H kim@box set cells/lamp there
    is "$(bindctl --host kim@box get -r cells/lamp)" there
    is "$(bindctl get -r cells/lamp)" here
    is "$(tail -n 1 "$directory/ssh-arguments")" '-xT -- kim@box bindctl pipe'
    is "$(bindctl -H box:2222 get -r cells/lamp)" there
    is "$(tail -n 1 "$directory/ssh-arguments")" '-xT -p 2222 -- box bindctl pipe'
    is "$(bindctl -H 'kim@[::1]:22' get -r cells/lamp)" there
    is "$(tail -n 1 "$directory/ssh-arguments")" '-xT -p 22 -- kim@::1 bindctl pipe'
    ln -s "$directory/far/binder" "$directory/a 'place'"
    is "$(bindctl -H box --socket "$directory/a 'place'/bus.sock" get -r cells/lamp)" there
    is "$(echo '{"id":1,"method":"get","params":{"source":"cells/lamp"}}' | bindctl -H box pipe | jq -r .result.value)" there
    bindctl -H box ping | grep -q '^box answers in '
    run bindctl -H box get cells/none
    is "$status" 4
}

@test "-H: a stream survives a restart of the other daemon" {
    place_ssh
    start_far
    bindctl -H box set cells/lamp 1
    beside bindctl -H box watch cells/lamp
    eventually has out $'cells/lamp\t1'
    kill -KILL "$far"
    wait "$far" || true
    eventually grep -q 'waiting for the daemon' "$directory/err"
    start_far
    bindctl -H box set cells/lamp 2
    eventually has out $'cells/lamp\t2'
}

@test "-H: says what is wrong on the other machine" {
    place_ssh
    run --separate-stderr bindctl -H kim@box get cells/lamp
    is "$status" 3
    is "${stderr_lines[-1]}" \
        'bindctl: no daemon answers: tried kim@box (--host: no daemon answers there); try: ssh kim@box bindctl doctor'
    FAR_PATH=/usr/bin:/bin
    run --separate-stderr bindctl -H kim@box set cells/lamp 1
    is "$status" 3
    [[ ${stderr_lines[-1]} == *'(--host: bindctl is not installed there)'* ]]
    touch "$directory/ssh-fails"
    run --separate-stderr bindctl -H kim@box get cells/lamp
    is "$status" 3
    [[ ${stderr_lines[-1]} == *'(--host: ssh failed)'* ]]
    run bindctl -H kim@box doctor
    is "$status" 3
    for wrong in -oProxyCommand=x '' @ kim@ box:0 box:70000 box:x 'a b'; do
        run --separate-stderr bindctl --host "$wrong" get cells/lamp
        is "$status" 2
        is "$stderr" "bindctl: --host takes [USER@]HOST[:PORT], not '$wrong'; see 'bindctl help'"
    done
}

@test "-H: commands on files of the daemon's machine run there or not at all" {
    start_daemon
    place_ssh
    start_far
    bindctl -H box set cells/lamp 1
    for words in "backup $directory/copy.db" verify export "restore $directory/x" 'info --file x' 'compact --file x'; do
        # shellcheck disable=SC2086
        run --separate-stderr bindctl -H box journal $words
        is "$status" 2
        [[ $stderr == 'bindctl: the journal of box cannot be read from here; type: ssh box bindctl journal '* ]]
        is "$output" ''
    done
    [ ! -e "$directory/copy.db" ]
    bindctl -H box journal info | grep -q "^$directory/far/journal.db: "
    run --separate-stderr bindctl -H box acl check root get
    is "$status" 2
    run --separate-stderr bindctl -H box session -- true
    is "$status" 2
    run bindctl -H box doctor -j
    is "$(jq -r '.checks[] | select(.name == "journal") | .text' <<< "$output")" "$directory/far/journal.db: 1 event, all since the first"
}

@test "a forwarded socket: the journal of another machine is not mistaken for a local file of that name" {
    [ "$(id -u)" = 0 ] || skip 'needs root'
    echo 11111111-2222-3333-4444-555555555555 > "$directory/boot"
    # shellcheck disable=SC2016
    unshare --mount bash -c 'mount --bind "$1/boot" /proc/sys/kernel/random/boot_id && exec binderd --config /dev/null \
        --socket "$1/far.sock" --journal "$1/journal.db"' bash "$directory" 2>> "$directory/log" 3>&- &
    background+=($!)
    eventually bindctl --socket "$directory/far.sock" ping > /dev/null 2>&1
    socat "UNIX-LISTEN:$BINDER_SOCKET,fork" "UNIX-CONNECT:$directory/far.sock" 3>&- &
    background+=($!)
    eventually bindctl set cells/lamp 1
    for words in "backup $directory/copy.db" verify export; do
        # shellcheck disable=SC2086
        run --separate-stderr bindctl journal $words
        is "$status" 1
        [[ $stderr == *"the daemon at $BINDER_SOCKET seems to run on another machine (its boot ID differs), so its journal cannot be read here;"* ]]
        is "$output" ''
    done
    [ ! -e "$directory/copy.db" ]
    bindctl journal info | grep -q "^$directory/journal.db: "
    # A container mounts an ID over that of the kernel, which the daemon in its sandbox does not see.
    bindctl --socket "$directory/far.sock" journal backup "$directory/copy.db" > "$directory/shown"
    binderd --journal "$directory/copy.db" --verify > "$directory/shown"
}

@test "-H with a real sshd on the loopback interface" {
    PATH=$PATH:/usr/sbin:$(realpath "$BATS_TEST_DIRNAME/../..")/.build/test/tools/usr/sbin
    sshd=$(command -v sshd) || skip "sshd is missing; see 'Scripts/packages test'"
    [ "$(id -u)" = 0 ] && getent passwd sshd > /dev/null || skip 'needs root and the user sshd'
    mkdir -p /run/sshd "$directory/far/binder"
    start_far
    ssh-keygen -q -t ed25519 -N '' -f "$directory/host"
    ssh-keygen -q -t ed25519 -N '' -f "$directory/key"
    port=$(python3 -c 'import socket; probe = socket.socket(); probe.bind(("127.0.0.1", 0)); print(probe.getsockname()[1])')
    cat > "$directory/sshd_config" << END
Port $port
ListenAddress 127.0.0.1
HostKey $directory/host
AuthorizedKeysFile $directory/key.pub
PidFile none
StrictModes no
UsePAM no
PermitRootLogin yes
SetEnv PATH=$PATH XDG_RUNTIME_DIR=$directory/far
END
    "$sshd" -D -e -f "$directory/sshd_config" 2> "$directory/err" 3>&- &
    background+=($!)
    mkdir "$directory/bin"
    # shellcheck disable=SC2016
    printf '#!/bin/sh\nexec %s -F none -i %s -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null "$@" 2>> %s\n' \
        "$(command -v ssh)" "$directory/key" "$directory/err" > "$directory/bin/ssh"
    chmod +x "$directory/bin/ssh"
    PATH=$directory/bin:$PATH
    eventually bindctl -H "root@127.0.0.1:$port" set cells/lamp true
    is "$(bindctl -H "root@127.0.0.1:$port" get cells/lamp)" true
    beside bindctl -H "root@127.0.0.1:$port" watch cells/lamp -n 2
    eventually has out $'cells/lamp\ttrue'
    bindctl --socket "$directory/far/binder/bus.sock" set cells/lamp false
    eventually has out $'cells/lamp\tfalse'
}

@test "-H: the programs that bindctl runs use the daemon of the other machine" {
    start_daemon
    bindctl set cells/lamp here
    place_ssh
    start_far
    bindctl -H box set cells/lamp there

    echo 'get cells/lamp -r' | bindctl -H box shell > "$directory/out"
    is "$(cat "$directory/out")" there

    is "$(bindctl -H box lock a -- bindctl get -r cells/lamp)" there

    beside timeout 60 bindctl -H box work worker --stream cells/lamp --since start -- bindctl get -r cells/lamp
    eventually has out there

    beside timeout 60 bindctl -H box serve far.lamp='bindctl get -r cells/lamp'
    eventually bindctl -H box is 'providers/far exists'
    is "$(bindctl -H box call far.lamp -r)" there

    is "$(bindctl get -r cells/lamp)" here
}

@test "-H with --socket: the path is one of the other machine, also for programs that bindctl runs" {
    start_daemon
    bindctl set cells/lamp here
    place_ssh
    start_far
    mv "$directory/far/binder" "$directory/far/elsewhere"
    bindctl -H box --socket "$directory/far/elsewhere/bus.sock" set cells/lamp there
    is "$(bindctl -H box --socket "$directory/far/elsewhere/bus.sock" lock a -- bindctl get -r cells/lamp)" there
    is "$(echo 'get cells/lamp' | bindctl -H box --socket "$directory/far/elsewhere/bus.sock" shell -r)" there
    is "$(bindctl lock a -- bindctl get -r cells/lamp)" here
}

@test "BINDER_HOST names the machine, and BINDER_SOCKET a path there" {
    start_daemon
    bindctl set cells/lamp here
    place_ssh
    start_far
    is "$(BINDER_HOST=box BINDER_SOCKET= bindctl set cells/lamp there; BINDER_HOST=box BINDER_SOCKET= bindctl get -r cells/lamp)" there
    is "$(tail -n 1 "$directory/ssh-arguments")" '-xT -- box bindctl pipe'
    is "$(BINDER_HOST=box bindctl get -r cells/lamp)" here
    is "$(tail -n 1 "$directory/ssh-arguments")" "-xT -- box bindctl pipe --socket $BINDER_SOCKET"
    is "$(BINDER_HOST=other bindctl -H box get -r cells/lamp)" there
    is "$(BINDER_HOST='' bindctl get -r cells/lamp)" here
    run --separate-stderr env BINDER_HOST=-x bindctl get cells/lamp
    is "$status" 2
    is "$stderr" "bindctl: \$BINDER_HOST takes [USER@]HOST[:PORT], not '-x'; see 'bindctl help'"
    is "$(BINDER_HOST=box bindctl session -- bindctl get 'cells/**')" '' # its own daemon, on this machine
}

@test "--socket holds for the command of lock" {
    binderd --socket "$directory/other.sock" --journal "$directory/other.db" 2> "$directory/log" 3>&- &
    background+=($!)
    eventually bindctl --socket "$directory/other.sock" set cells/lamp other
    start_daemon
    bindctl set cells/lamp here
    is "$(bindctl --socket "$directory/other.sock" lock a -- bindctl get -r cells/lamp)" other
    is "$(bindctl lock a -- bindctl get -r cells/lamp)" here
}
