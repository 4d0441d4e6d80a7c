# Locks and values that end with their owner, in a shell.

load support

setup() {
    make_place
    start_daemon
}

teardown() { remove_place; }

held() { bindctl get locks/backup > "$directory/no" 2>&1; }
waiting() { [ "$(bindctl get locks/backup -F '{value.waiting_count}' 2> "$directory/no")" = "$1" ]; } # count

@test "a command runs under a lock, and bindctl exits as it does" {
    run --separate-stderr bindctl lock backup -- sh -c 'echo "$BINDER_LOCK $BINDER_LOCK_TOKEN"; bindctl get locks/backup -F "{value.holder.token}"; exit 7'
    is "$status/$stderr" "7/"
    is "${lines[0]}" "backup ${lines[1]}"
    # The next holder has a higher token.
    [ "$(bindctl lock backup -- sh -c 'echo "$BINDER_LOCK_TOKEN"')" -gt "${lines[1]}" ]
    run ! held
}

@test "a lock that is held makes others wait, or exit with 5" {
    beside bindctl lock backup -- sleep 60
    holder=${background[-1]}
    eventually held
    run --separate-stderr bindctl lock backup --wait 0s -- echo never
    is "$status/$output" 5/
    [[ $stderr == "bindctl: lock 'backup' is held by process "* ]]
    run --separate-stderr bindctl lock backup --wait 50ms -- echo never
    is "$status/$output" 5/
    eventually waiting 0
    beside bindctl lock backup -- echo mine
    eventually waiting 1
    kill -KILL "$holder"
    eventually has out mine
    run ! held
}

@test "a lock is kept over a crash of the daemon" {
    beside bindctl lock backup -- sh -c 'while [ ! -e "$0" ]; do sleep .02; done; echo done' "$directory/go"
    holder=${background[-1]}
    eventually held
    token=$(bindctl get locks/backup -F '{value.holder.token}')
    kill_daemon
    start_daemon
    run bindctl lock backup --wait 0s -- echo never
    is "$status" 5
    sleep 6 # longer than lease_grace_ms
    is "$(bindctl get locks/backup -F '{value.holder.token}')" "$token"
    touch "$directory/go"
    wait "$holder"
    has out 'done'
    run ! held
}

@test "a command whose lock was taken away is ended, and bindctl exits with 6" {
    beside bindctl lock backup -- sleep 60
    holder=${background[-1]}
    eventually held
    echo '{"limits":{"lease_grace_ms":100}}' > "$directory/binder.conf"
    kill -STOP "$holder"
    kill_daemon
    start_daemon --config "$directory/binder.conf"
    eventually run_not held
    kill -CONT "$holder"
    status=0
    wait "$holder" || status=$?
    is "$status" 6
    grep -qF "lock 'backup' is lost" "$directory/err"
}

run_not() { ! "$@"; }

@test "a signal ends the command, and the lock is free" {
    beside bindctl lock backup -- sleep 60
    holder=${background[-1]}
    eventually held
    kill -TERM "$holder"
    status=0
    wait "$holder" || status=$?
    is "$status" 143
    run ! held
}

@test "a value with a ttl ends in time, and can be renewed" {
    lease=$(bindctl set cells/door open --ttl 300ms)
    is "$(bindctl get cells/door)" '"open"'
    eventually run_not bindctl get cells/door
    lease=$(bindctl set cells/door open --ttl 30s)
    is "$(bindctl call lease.renew lease="$lease")" 30000
    bindctl call lease.release lease="$lease" > "$directory/no"
    run ! bindctl get cells/door
    run --separate-stderr bindctl set cells/door open --ttl 0s
    is "$status" 2
    [[ $stderr == *"--ttl takes 100ms to 31d, not '0s'"* ]]
}

@test "a value is there while its program is connected" {
    beside bindctl set cells/here true --while-connected
    owner=${background[-1]}
    eventually bindctl get cells/here
    kill -KILL "$owner"
    eventually run_not bindctl get cells/here
    beside bindctl set cells/here true --while-connected
    owner=${background[-1]}
    eventually bindctl get cells/here
    kill -TERM "$owner"
    status=0
    wait "$owner" || status=$?
    [ "$status" -gt 128 ]
    eventually run_not bindctl get cells/here
    run --separate-stderr bindctl set cells/here true --while-connected --ttl 5s
    is "$status/$stderr" "2/bindctl: --ttl and --while-connected cannot be used together; see 'bindctl help set'"
}
