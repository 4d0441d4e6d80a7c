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
    beside bindctl events lists/q --durable w --since start --retry-delay 10ms "${@:2}" --exec "$1"
    worker=${background[-1]}
}

# Waits until the worker has ended, and sets its exit status.
ends() {
    status=0
    wait "$worker" || status=$?
}

lines() { [ "$(wc -l < "$done")" = "$1" ]; }      # count
stands() { [ "$(bindctl get readers/w -F '{value.seq}' 2> "$directory/no")" = "$1" ]; } # seq

@test "BINDER_ATTEMPT says that an earlier process may have run the command for the event" {
    add_jobs 1 1
    # Reading and acknowledging is no attempt.
    bindctl events lists/q --durable w --since start > "$directory/no"
    bindctl ack w 1
    add_jobs 2 2
    work 'echo "$BINDER_SEQ $BINDER_ATTEMPT" >> "$done"; while [ ! -e "$directory/go" ]; do sleep .1; done'
    eventually lines 1
    is "$(cut -d ' ' -f 2 "$done")" 1
    kill -KILL "$worker"
    work 'echo "$BINDER_SEQ $BINDER_ATTEMPT" >> "$done"; while [ ! -e "$directory/go" ]; do sleep .1; done'
    eventually lines 2
    touch "$directory/go"
    add_jobs 3 3
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
    eventually stands 2
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
    pkill -KILL -P "$worker" || true
    kill -KILL "$worker"
    ends
    is "$status" 137
    work 'echo "done $BINDER_SEQ" >> "$done"'
    eventually stands 2
    is "$(cat "$done")" $'begun 1\ndone 1\ndone 2'
}

@test "a command that fails is retried; then the event is parked, once, and the next one comes" {
    add_jobs 1 3
    work 'echo "$BINDER_SEQ $BINDER_ATTEMPT" >> "$done"; [ "$BINDER_SEQ" != 2 ] || exit 7' --max-retries 2
    eventually stands 3
    is "$(cat "$done")" $'1 1\n2 1\n2 2\n2 3\n3 1'
    is "$(bindctl get lists/w.parked | jq -c '.[] | [.seq, .event.data.value, .event.type, .failure, .attempts]')" \
        '[2,"job2","lists.inserted","exited with 7",3]'
    is "$(cat "$directory/err")" 'bindctl: event 2: the command has exited with 7; retry 1 of 2 in 0.01 s
bindctl: event 2: the command has exited with 7; retry 2 of 2 in 0.02 s
bindctl: event 2: the command has exited with 7, attempt 3 of 3; the event is parked in lists/w.parked'
    # The parked event is unchanged.
    is "$(bindctl call lists.remove name=w.parked at:=0 -r | jq -r .event.data.value)" job2
    is "$(bindctl get lists/w.parked)" '[]'
}

@test "a worker parks also after a restart of the daemon" {
    add_jobs 1 1
    work 'exit 1' --max-retries 0
    parked() { [ "$(bindctl get lists/w.parked 2> "$directory/no" | jq length)" = "$1" ]; }
    eventually parked 1
    kill_daemon
    start_daemon
    add_jobs 2 2
    eventually parked 2
    is "$(bindctl get lists/w.parked | jq -c 'map(.event.data.value)')" '["job1","job2"]'
}

@test "a signal that kills a command is a failure as well, and what is too long is parked without its data" {
    { echo -n '"'; head -c 262100 /dev/zero | tr '\0' x; echo -n '"'; } > "$directory/big"
    bindctl set cells/big "@$directory/big"
    beside bindctl events cells/big --durable w --since start --max-retries 0 --exec 'kill -KILL $$'
    eventually stands 1
    is "$(bindctl get lists/w.parked | jq -c '.[] | [.seq, .event.data, .event.stream, .failure, .left_out]')" \
        '[1,null,"cells/big","been ended by signal 9","data"]'
}

@test "who reads everything does not work on what it has parked itself" {
    add_jobs 1 1
    beside bindctl events --durable w --since start --max-retries 0 --exec 'exit 1'
    eventually stands "$(($(bindctl events lists/q -F '{seq}') + 2))"
    add_jobs 2 2
    two_parked() { [ "$(bindctl get lists/w.parked | jq length)" = 2 ]; }
    eventually two_parked
    is "$(bindctl get lists/w.parked | jq -c 'map(.event.stream)')" '["lists/q","lists/q"]'
}

@test "a run that ends between parking and acknowledging parks an event once" {
    add_jobs 1 1
    # As in a real run: parked, then killed.
    bindctl events lists/q --durable w --since start > "$directory/no"
    version=$(bindctl events readers/w -n 1 -F '{event.version}')
    bindctl call lists.append name=w.parked value:='{"seq":1}' --cmd "w:$version:1" > "$directory/no"
    work 'exit 1' --max-retries 0
    eventually stands 1
    is "$(bindctl get lists/w.parked)" '[{"seq":1}]'
    # After the reader starts from the beginning, the event is parked again.
    kill "$worker"
    ends
    bindctl call readers.remove name=w > "$directory/no"
    work 'exit 1' --max-retries 0
    eventually stands 1
    is "$(bindctl get lists/w.parked | jq length)" 2
}

@test "a command that cannot be run acknowledges nothing" {
    add_jobs 1 1
    work 'no-such-program'
    ends
    is "$status" 127
    is "$(tail -1 "$directory/err")" \
        'bindctl: the command cannot be run; event 1 and later events are not acknowledged'
    is "$(bindctl events lists/q --durable w -F '{seq}')" 1
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
    eventually stands 1
    : > "$done"
    work 'trap "echo ended >> $done; exit 1" TERM; echo "begun $BINDER_SEQ" >> "$done"; while :; do sleep .05; done'
    eventually lines 1
    kill -TERM "$worker"
    ended() { lines 2; }
    pending() { ! kill -TERM "$worker" 2> "$directory/no" || ended; }
    eventually pending
    ends
    is "$status" 143
    stands 1
    is "$(bindctl get lists/w.parked)" '[]'
}

@test "one works at a time, another takes over when asked" {
    work 'echo one >> "$done"'
    held() { [ "$(bindctl stats -F '{stats.subscriptions}')" = 1 ]; }
    eventually held
    first=$worker
    for command in "events lists/q --durable w --exec true" "ack w 0"; do
        # shellcheck disable=SC2086
        run --separate-stderr bindctl $command
        is "$status" 5
        is "$stderr" "bindctl: reader 'w' is in use; --steal takes it over"
    done
    # Reading without --exec does not hold the reader.
    bindctl events lists/q --durable w
    work 'echo two >> "$done"' --steal
    worker=$first
    ends
    is "$status" 5
    add_jobs 1 1
    eventually lines 1
    is "$(cat "$done")" two
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
    eventually stands "$(bindctl events lists/q -n 1 -F '{seq}')"
    is "$(sort -nu "$done" | wc -l)" 60
}

@test "the options of a worker need it" {
    refuses() { # sentence argument...
        run --separate-stderr bindctl events "${@:2}"
        is "$status/$stderr" "2/bindctl: $1; see 'bindctl help events'"
    }
    refuses "option '--exec' needs --durable" --exec true
    refuses "option '--steal' needs --durable" --steal
    refuses "option '--max-retries' needs --exec" --durable x --max-retries 3
    refuses "option '--steal' needs --exec" --durable x --steal
    refuses '--count and --exec cannot be used together' --durable x --exec true -n 1
    refuses '--until and --durable cannot be used together' --durable x --until now
}
