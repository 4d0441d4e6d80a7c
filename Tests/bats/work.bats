# Durable readers in a shell: no work is lost when a process is killed.

load support

setup() {
    make_place
    start_daemon
    # The work done by the command, one line for each event.
    export directory done=$directory/done
    : > "$done"
}

teardown() { remove_place; }

# Adds jobs to a queue.
add_jobs() { # from to
    for ((i = $1; i <= $2; i++)); do bindctl call lists.append name=q value="job$i"; done > "$directory/no"
}

# Starts a worker of the queue in the background.
work() { # command option...
    beside bindctl work w --stream lists/q --since start --in-order --retry-delay 10ms "${@:2}" -- sh -c "$1"
    worker=${background[-1]}
}

# Waits until the worker has ended, and sets its exit status.
ends() {
    status=0
    wait "$worker" || status=$?
}

lines() { [ "$(wc -l < "$done")" = "$1" ]; }      # count
field() { [ "$(bindctl get readers/w -F "{value.$1}" 2> "$directory/no")" = "$2" ]; } # member value
parked() { field parked_count "$1"; }             # count

@test "the figures of the moment are beside the value for scripts, and among it for people" {
    add_jobs 1 1
    work 'while [ ! -e "$directory/go" ]; do sleep .05; done'
    in_hand() { [ "$(bindctl get readers/w --pick /in_hand)" = 1 ]; }
    eventually in_hand
    is "$(bindctl get readers/w -j | jq -c '[.value.held, .now.held, .value.in_hand, .now.in_hand]')" '[null,true,null,1]'
    is "$(bindctl get readers/w -r | jq -c '[.seq, .held]' | jq -c '.[1]')" null
    is "$(bindctl get readers/w -F '{now.in_hand}')" 1
    is "$(bindctl get readers/w | jq -c '[.held, .in_hand]')" '[true,1]'
    is "$(bindctl get readers/w --pick /in_hand -j | jq -c '[.value, .now]')" '[1,null]'
    is "$(bindctl get readers/w --pick /seq)" "$(bindctl get readers/w -j | jq .value.seq)"
    touch "$directory/go"
}

@test "BINDER_ATTEMPT says that an earlier process may have run the command for the event" {
    add_jobs 1 1
    work 'echo "$BINDER_SEQ $BINDER_ATTEMPT" >> "$done"; while [ ! -e "$directory/go" ]; do sleep .1; done'
    eventually lines 1
    is "$(cut -d ' ' -f 2 "$done")" 1
    kill -KILL "$worker"
    work 'echo "$BINDER_SEQ $BINDER_ATTEMPT" >> "$done"; while [ ! -e "$directory/go" ]; do sleep .1; done'
    eventually lines 2
    touch "$directory/go"
    add_jobs 2 2
    eventually lines 3
    is "$(cut -d ' ' -f 2 "$done")" $'1\n2\n1'
    is "$(cut -d ' ' -f 1 "$done" | uniq | wc -l)" 2
}

@test "what was printed is not acknowledged, only what somebody has acknowledged" {
    add_jobs 1 3
    # A worker that reads one line and dies loses no event.
    is "$(bindctl events lists/q --durable w --since start -F '{seq}' | head -1)" 1
    is "$(bindctl events lists/q --durable w -F '{seq} {event.data.value}')" $'1 job1\n2 job2\n3 job3'
    is "$(bindctl events lists/q --durable w -n 2 -F '{seq}')" $'1\n2'
    bindctl ack w 2
    is "$(bindctl events lists/q --durable w -F '{seq}')" 3
    # The position never goes back.
    bindctl ack w 1
    is "$(bindctl events lists/q --durable w -F '{seq}')" 3
    kill_daemon
    start_daemon
    add_jobs 4 4
    is "$(bindctl events lists/q --durable w -F '{event.data.value}')" $'job3\njob4'
    beside bindctl events lists/q --durable w -f -F '{event.data.value}'
    eventually has out job4
    add_jobs 5 5
    eventually has out job5
    is "$(cat "$directory/out")" $'job3\njob4\njob5'
    run --separate-stderr bindctl ack w 999
    is "$status/$stderr" "1/bindctl: position 999 is beyond the end of the journal ($(bindctl ping -F '{last}'))"
    # A new reader starts after the acknowledged position.
    bindctl ack fresh 1
    is "$(bindctl get readers/fresh -F '{value.seq}')" 1
}

@test "a command runs once for each event and gets all of it" {
    add_jobs 1 2
    # shellcheck disable=SC2016
    work 'echo "$BINDER_READER $BINDER_SEQ $BINDER_TYPE $BINDER_STREAM $BINDER_VERSION $BINDER_ATTEMPT $(jq -c "[.seq, .event.data.value]")" >> "$done"'
    eventually lines 2
    is "$(cat "$done")" 'w 1 lists.inserted lists/q 1 1 [1,"job1"]
w 2 lists.inserted lists/q 2 1 [2,"job2"]'
    acknowledged() { [ "$(bindctl get readers/w -F '{value.seq}')" -ge 2 ]; }
    eventually acknowledged
    kill_daemon
    start_daemon
    add_jobs 3 3
    eventually lines 3
    kill -TERM "$worker"
    ends
    is "$status" 143
    add_jobs 4 4
    work 'cat >> "$done"'
    eventually lines 4
    is "$(tail -1 "$done" | jq -r .event.data.value)" job4
}

@test "a worker that is killed in mid-work gets the event again" {
    add_jobs 1 2
    work 'echo "begun $BINDER_SEQ" >> "$done"; sleep 60'
    eventually lines 1
    kill -KILL "$worker" # which ends the command
    ends
    is "$status" 137
    work 'echo "done $BINDER_SEQ" >> "$done"'
    eventually lines 3
    is "$(cat "$done")" $'begun 1\ndone 1\ndone 2'
}

@test "the command of a worker, a provider or a watcher that is killed ends" {
    local program pid
    alone() { [ -s "$done" ] && gone "$(tail -1 "$done")"; }
    add_jobs 1 1
    for program in 'work r --stream lists/q --since start --' "serve p.go=echo" 'watch cells/w --'; do
        rm -f "$done"
        # shellcheck disable=SC2016
        local command='echo $$ > "$done"; tail -f /dev/null & wait'
        case $program in
        serve*) bindctl serve "p.go=$command" 3>&- & ;;
        *) bindctl $program sh -c "$command" 3>&- & ;;
        esac
        pid=$!
        background+=("$pid")
        bindctl set cells/w "\"$program\""
        case $program in
        serve*)
            eventually bindctl is 'providers/p exists'
            bindctl call p.go 3>&- > /dev/null 2>&1 &
            background+=($!)
            ;;
        esac
        eventually [ -s "$done" ]
        kill -KILL "$pid"
        eventually alone
    done
}

@test "a command ends although bindctl is killed while it starts it" {
    command -v strace > "$directory/no" || skip 'strace is missing'
    bindctl set cells/w 1
    # bindctl is slow to say what it has started, and the command kills it before.
    status=0
    # shellcheck disable=SC2016 # for the shell of the watcher
    strace -qq -o "$directory/calls" -e trace=write -e inject=write:delay_enter=500ms \
        bindctl watch cells/w -- sh -c 'kill -KILL $PPID; echo $$ > "$done"; while :; do sleep .1; done' \
        > "$directory/out" 2> "$directory/err" 3>&- || status=$?
    [ "$status" = 137 ] || skip "strace cannot be used here: $(cat "$directory/err")"
    eventually [ -s "$done" ]
    eventually gone "$(cat "$done")"
}

@test "a command that fails is retried; then the event is parked, and the next one comes" {
    add_jobs 1 3
    work 'echo "$BINDER_SEQ $BINDER_ATTEMPT" >> "$done"; [ "$BINDER_SEQ" != 2 ] || exit 7' --max-deliveries 3
    eventually lines 5
    is "$(cat "$done")" $'1 1\n2 1\n2 2\n2 3\n3 1'
    eventually parked 1
    is "$(bindctl get readers/w | jq -c '.parked[] | [.seq, .reason, .deliveries]')" '[2,"exited with 7",3]'
    eventually has err 'bindctl: event 2: the command exited with 7; parked after delivery 3'
    is "$(cat "$directory/err")" 'bindctl: event 2: the command exited with 7; again in 0.01 s
bindctl: event 2: the command exited with 7; again in 0.02 s
bindctl: event 2: the command exited with 7; parked after delivery 3'
}

@test "a worker parks also after a restart of the daemon" {
    add_jobs 1 1
    work 'exit 1' --max-deliveries 1
    eventually parked 1
    kill_daemon
    start_daemon
    add_jobs 2 2
    eventually parked 2
    is "$(bindctl get readers/w | jq -c '.parked | map(.reason)')" '["exited with 1","exited with 1"]'
}

@test "a signal that kills a command is a failure as well, and what was parked is delivered whole again" {
    { echo -n '"'; head -c 262100 /dev/zero | tr '\0' x; echo -n '"'; } > "$directory/big"
    bindctl set cells/big "@$directory/big"
    beside bindctl work w --stream cells/big --since start --max-deliveries 1 -- \
        sh -c 'if [ -e "$directory/go" ]; then cat > "$directory/got"; else kill -KILL $$; fi'
    eventually parked 1
    is "$(bindctl get readers/w | jq -c '.parked[] | [.seq, .reason]')" '[1,"was ended by signal 9"]'
    touch "$directory/go"
    bindctl call readers.retry name=w > "$directory/no"
    eventually parked 0
    whole() { [ "$(jq -r .event.data.value "$directory/got" 2> "$directory/no" | wc -c)" = 262101 ]; }
    eventually whole
}

@test "who reads everything does not work on what it has parked itself" {
    add_jobs 1 1
    beside bindctl work w --since start --max-deliveries 1 -- sh -c 'echo "$BINDER_STREAM" >> "$done"; exit 1'
    eventually parked 1
    add_jobs 2 2
    eventually parked 2
    is "$(sort -u "$done")" lists/q
}

@test "with --who the event says who has recorded it" {
    add_jobs 1 1
    work 'jq -r .event.who.uid >> "$done"' --who
    eventually lines 1
    is "$(cat "$done")" "$(id -u)"
}

@test "a signal lets the command come to its end, a second one ends it" {
    add_jobs 1 2
    mkfifo "$directory/go"
    work 'echo "begun $BINDER_SEQ" >> "$done"; read -r line < "$directory/go"; echo "done $BINDER_SEQ" >> "$done"'
    eventually lines 1
    kill -TERM "$worker"
    echo > "$directory/go"
    ends
    is "$status" 143
    is "$(cat "$done")" $'begun 1\ndone 1'
    eventually field seq 1
    : > "$done"
    work 'trap "echo ended >> $done; exit 1" TERM; echo "begun $BINDER_SEQ" >> "$done"; while :; do sleep .05; done'
    eventually lines 1
    kill -TERM "$worker"
    ended() { lines 2; }
    pending() { ! kill -TERM "$worker" 2> "$directory/no" || ended; }
    eventually pending
    ends
    is "$status" 143
    field seq 1
    parked 0
}

@test "with --in-order one worker at a time has an event, and another one takes over" {
    add_jobs 1 4
    work 'echo "$BINDER_SEQ" >> "$done"; until [ -e "$directory/go" ]; do sleep .05; done'
    first=$worker
    eventually lines 1
    work 'echo "$BINDER_SEQ" >> "$done"'
    traced '"sub":"work","source":"events","kind":"events"' 2
    is "$(cat "$done")" 1
    kill -KILL "$first"
    touch "$directory/go"
    eventually lines 5
    is "$(cat "$done")" $'1\n1\n2\n3\n4'
    run --separate-stderr bindctl work w --stream lists/q -- true
    is "$status/$stderr" "5/bindctl: reader 'w' has workers with another filter, role, who or in_order"
    run --separate-stderr bindctl work w --in-order --jobs 2 -- true
    is "$status/$stderr" "2/bindctl: --jobs and --in-order cannot be used together; see 'bindctl help work'"
}

@test "60 jobs, workers that are killed again and again: each is done" {
    add_jobs 1 60
    # shellcheck disable=SC2016
    command='echo "$BINDER_SEQ" >> "$done"'
    for i in {1..12}; do
        work "$command"
        at_least() { [ "$(wc -l < "$done")" -ge $((i * 4)) ]; }
        eventually at_least
        kill -KILL "$worker"
        ends
        [ $((i % 4)) != 0 ] || { kill_daemon && start_daemon; }
    done
    work "$command"
    each() { [ "$(sort -nu "$done" | wc -l)" = 60 ]; }
    eventually each
    parked 0
}

@test "the options of a durable reader exclude others" {
    run --separate-stderr bindctl events --durable x --until now
    is "$status/$stderr" "2/bindctl: --until and --durable cannot be used together; see 'bindctl help events'"
}
