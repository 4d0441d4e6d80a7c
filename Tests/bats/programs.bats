# Services made of programs, and workers that share a durable reader, in a shell.

load support

setup() {
    make_place
    start_daemon
    cd "$directory"
}

teardown() { cd /; remove_place; }

# Makes an executable.
program() { # name body
    printf '#!/bin/sh\n%s\n' "$2" > "$1"
    chmod +x "$1"
}

provided() { bindctl get "providers/$1" > no 2>&1; }
lines_in() { [ "$(wc -l < "$1")" = "$2" ]; } # file count
field() { [ "$(bindctl get "$1" -F "{$2}" 2> no)" = "$3" ]; } # source field value

@test "programs are methods of a service, with parameters, results and checks" {
    program blink.sh 'echo "$BINDER_METHOD: $BINDER_PARAM_times times for $BINDER_CALLER_UID"'
    echo '{"doc":"Blinks.","params":{"type":"object","properties":{"times":{"type":"integer","minimum":1}},"required":["times"]},"result":{"type":"string"}}' > blink.sh.json
    beside bindctl serve lamp.blink=./blink.sh 'lamp.echo=cat' 'lamp.null=:' --doc "A lamp."
    eventually provided lamp
    is "$(bindctl call lamp.blink times:=3)" "\"lamp.blink: 3 times for $(id -u)\""
    is "$(bindctl call lamp.echo a:=1 b=x)" '{"a":1,"b":"x"}'
    is "$(bindctl call lamp.null)" null
    run --separate-stderr bindctl call lamp.blink times:=0
    is "$status/$stderr" "5/bindctl: expected at least 1 at /times, got 0"
    run --separate-stderr bindctl call lamp.blinc times:=1
    is "$status/$stderr" "4/bindctl: no method 'lamp.blinc'; did you mean 'lamp.blink'?"
    [[ $(bindctl describe lamp.blink) == *"Blinks."* ]]
    [[ $(bindctl get providers/lamp) == *'"doc":"A lamp."'*'"program":"bindctl"'* ]]
    # Nobody serves it any more, but it is known.
    kill -TERM "${background[-1]}"
    eventually not provided lamp
    run --separate-stderr bindctl call lamp.blink times:=3
    is "$status/$stderr" "1/bindctl: service 'lamp' is not available: nobody provides it"
}

@test "a program that fails, hangs, is killed or prints without end gives an error, and others go on" {
    local nap=100.$$ # a time that no other test sleeps for
    beside bindctl serve a.fails='echo noise >&2; echo "no bulb" >&2; exit 3' a.dies='kill -KILL $$' a.floods='yes' \
        a.missing=/nonexistent/program a.works='echo 1'
    # In the time that is enough to hang, others may not come to their end on a busy machine.
    beside bindctl serve b.hangs="sleep $nap" b.stubborn="trap '' TERM; sleep $nap & wait; sleep $nap" b.works='echo 1' \
        --limit 500ms --jobs 8
    eventually provided a
    eventually provided b
    works() { [ "$(bindctl call "$1.works")" = 1 ]; } # service
    for case in "a.fails/no bulb (it exited with 3)" "b.hangs/the program did not end in time" \
        "b.stubborn/the program did not end in time" "a.dies/the program was ended by signal 9" \
        "a.floods/the program wrote more than 1 MiB to stdout"; do
        run --separate-stderr bindctl call "${case%%/*}"
        is "$status/$stderr" "5/bindctl: ${case#*/}"
        works a
        eventually works b
    done
    run --separate-stderr bindctl call a.missing
    [[ $status/$stderr == 5/*"(it exited with 127)" ]]
    # Nothing that was ended is left behind.
    eventually not pgrep -xf "sleep $nap"
}

@test "the executables of a directory are methods" {
    mkdir methods
    program methods/fan.turn.sh 'echo "\"turning\""'
    program methods/fan.stop 'echo "\"stopped\""'
    echo '{"doc":"Stops."}' > methods/fan.stop.json
    echo note > methods/README
    beside bindctl serve --dir methods
    eventually provided fan
    is "$(bindctl call fan.turn)" '"turning"'
    is "$(bindctl call fan.stop)" '"stopped"'
    [[ $(bindctl describe fan) == *Stops.* ]]
    mkdir empty
    run --separate-stderr bindctl serve --dir empty
    is "$status/$stderr" "1/bindctl: 'empty' has no executable with a name such as lamp.blink"
}

@test "wrong arguments of serve are refused with the reason" {
    for case in "lamp=x/expected SERVICE.METHOD=CMD, not 'lamp=x'; see 'bindctl help serve'" \
        "cells.b=:/'cells' is a service of the daemon" \
        "La.b=:/expected 1 to 32 of [a-z0-9_], a letter first at /service, got 'La'"; do
        run --separate-stderr bindctl serve "${case%%/*}"
        [ "$status" != 0 ]
        is "$stderr" "bindctl: ${case#*/}"
    done
}

@test "a wrong declaration is refused with its file, the place in it, and the cure" {
    while IFS='|' read -r declaration message; do
        printf '%b' "$declaration" > x.json
        run --separate-stderr bindctl serve lamp.x=x
        is "$status/$stderr" "2/bindctl: x.json:$message"
    done <<'END'
{"params":{"type":"objekt"}}| at /params/type: expected one of null boolean integer number string array object, got "objekt"; params is a JSON Schema, such as {"type":"object","properties":{"name":{"type":"string"}}}
{"params":{"thing":{"type":"string"}}}| at /params/thing: expected a word of JSON Schema that binderd checks, such as type, properties or enum, got thing; write "params":{"type":"object","properties":{"thing":{"type":"string"}}}
{"result":"integer"}| at /result: expected a JSON Schema: an object, got "integer"; result is a JSON Schema, such as {"type":"string"}
{"delivery":"soon"}| at /delivery: expected "direct" or "queued", got "soon"
{"parms":{}}| at /parms: expected doc, params, result or delivery, got parms
{"doc":"x",\n "result":}|2:11: a value is expected
["doc"]| a declaration is an object, such as {"doc":"Adds things."}
END
}

# Adds to a value that a service keeps: it reads it, thinks, and writes.
adder() { # options of serve…
    program add 'n=$(bindctl get -q services/sum/n 2> /dev/null || echo 0)
sleep .1
bindctl publish sum/n $((n + 1)) --keep'
    beside bindctl serve sum.add=./add "$@"
    eventually provided sum
}

# Calls a method several times at once.
at_once() { # number method
    local calls=()
    for ((i = 0; i < $1; i++)); do
        bindctl call "$2" > no 2>> errors &
        calls+=($!)
    done
    wait "${calls[@]}"
}

@test "serve runs the calls of a service one after the other, so none overwrites another" {
    adder
    at_once 6 sum.add
    is "$(bindctl get services/sum/n)" 6
}

@test "serve --jobs runs several at once, and services do not wait for each other" {
    # Each waits until all are there.
    program meet 'touch "$1.$$"; until [ "$(ls | grep -c "^$1\.")" = "$2" ]; do sleep .02; done; echo 1'
    beside bindctl serve a.meet='./meet a 3' b.meet='./meet b 3' c.meet='./meet c 1' --jobs 3
    eventually provided c
    at_once 3 a.meet
    beside bindctl call b.meet
    waits_in_b() { ls b.* > no 2>&1; }
    eventually waits_in_b
    is "$(bindctl call c.meet)" 1
    at_once 2 b.meet
    wait "${background[-1]}"
    run ! bindctl serve a.b=: --jobs 0
}

@test "serve --view gives a service a view, which stays when its program ends" {
    printf '%s\n' 'view "A lamp."' 'services/lamp/on ~> on' 'blink -> lamp.blink main' > lamp.view
    printf '%s\n' 'view "A lamp."' 'n = 7' > lamp.other.view
    beside bindctl serve lamp.blink='bindctl publish lamp/on true --keep; echo 1' --view lamp.view --view lamp.other.view
    eventually provided lamp
    echo '{"intent":"blink"}' | bindctl open lamp > shown
    is "$(jq -c 'select(.answer).answer.value' shown)" 1
    [[ $(bindctl open lamp.other < /dev/null) == *'"value":7'* ]]
    [[ $(bindctl views) == *lamp.other* ]]
    kill -TERM "${background[-1]}"
    eventually not provided lamp
    kill_daemon
    start_daemon
    echo '{"intent":"blink"}' | bindctl open lamp > shown || true
    grep -q '"on":{"kind":"state","value":true}' shown
    grep -q 'nobody provides it' shown
}

@test "a wrong view is refused with its file, line and column" {
    printf '%s\n' 'view "A."' 'a -> lamp.blikn' > lamp.view
    run --separate-stderr bindctl serve lamp.blink=: --view ./lamp.view
    is "$status/$stderr" "2/bindctl: ./lamp.view:2:6: no method 'lamp.blikn'; did you mean 'lamp.blink'?"
    printf '%s\n' 'view "A."' 'a -> cells.set name="a" value=1' 'cells/b <> b' > lamp.view
    run --separate-stderr bindctl serve lamp.blink=: --view lamp.view
    is "$status/$stderr" "2/bindctl: lamp.view:2:6: a view of a program calls methods of its own service 'lamp' only, and 1 more"
    for file in fan.view lamp.view.txt; do
        run --separate-stderr bindctl serve lamp.blink=: --view $file
        is "$status/$stderr" "2/bindctl: --view takes a file lamp.view or lamp.NAME.view, not '$file'; see 'bindctl help serve'"
    done
    run --separate-stderr bindctl serve lamp.blink=: --view lamp.none.view
    is "$status/$stderr" "2/bindctl: 'lamp.none.view' cannot be read: No such file or directory"
}

@test "publish --keep writes only what was decided on the newest value" {
    bindctl publish stock/nails 7 --keep --expect none
    run --separate-stderr bindctl publish stock/nails 9 --keep --expect none
    [ "$status" = 5 ]
    [[ $stderr == *"services/stock/nails"* ]]
    bindctl publish stock/nails 6 --keep --if 'services/stock/nails == 7' --expect 1
    is "$(bindctl get services/stock/nails)" 6
    run --separate-stderr bindctl publish stock/nails 5 --keep --if 'services/stock/nails == 7'
    [ "$status" = 5 ]
    [[ $stderr == *"services/stock/nails == 7"* ]]
    bindctl set cells/open true
    bindctl publish stock/nails --keep --if 'cells/open == true' --if 'services/stock/nails exists'
    run ! bindctl get services/stock/nails
    while IFS='|' read -r options message; do
        run --separate-stderr bindctl publish stock/n 1 $options
        is "$status/$stderr" "2/bindctl: $message; see 'bindctl help publish'"
    done <<'END'
--expect 1|--expect and --if need --keep: a live value has no version
--keep --if nix|'nix' is not a condition; for example: 'a/b > 20'
--keep --expect x|--expect takes a number, none, exists or any, not 'x'
END
}

@test "a server finds its daemon again, and queued calls outlive both" {
    echo '{"delivery":"queued"}' > order.json
    program order 'echo "$BINDER_PARAM_n" >> orders; echo ok'
    beside bindctl serve shop.order=./order
    eventually provided shop
    bindctl call shop.order n:=1
    # The line is there before the daemon knows that the call is done; a call that it does not know done is repeated.
    eventually field services/shop value.queued 0
    kill -KILL "${background[-1]}"
    eventually not provided shop
    bindctl call shop.order n:=2 --cmd order-2
    bindctl call shop.order n:=2 --cmd order-2
    field services/shop value.queued 1
    kill_daemon
    start_daemon
    beside bindctl serve shop.order=./order
    eventually field services/shop value.queued 0
    kill_daemon
    start_daemon
    eventually provided shop
    bindctl call shop.order n:=3
    eventually lines_in orders 3
    is "$(tr '\n' ' ' < orders)" "1 2 3 "
    eventually field services/shop value.queued 0
}

@test "why finds the queued call behind a value that its program has set" {
    echo '{"delivery":"queued"}' > order.json
    program order 'bindctl publish --keep shop/state 1 > /dev/null; bindctl set cells/ordered 1'
    beside bindctl serve shop.order=./order
    eventually provided shop
    seq=$(bindctl call shop.order)
    bindctl wait cells/ordered 1 > /dev/null
    run -0 bindctl why cells/ordered -F '{seq} {source} {type}'
    is "${lines[1]}" "$seq services/shop services.called"
    run -0 bindctl why services/shop/state -F '{seq} {source} {type}'
    is "${lines[1]}" "$seq services/shop services.called"
    # A direct call is no event.
    program direct 'bindctl set cells/ordered 2; echo "seq $BINDER_SEQ"'
    beside bindctl serve till.pay=./direct
    eventually provided till
    is "$(bindctl call till.pay)" '"seq "'
    run -0 bindctl why cells/ordered -F '{seq}'
    is "${#lines[@]}" 1
}

@test "the answer to a queued call of another journal is not taken for that of a call with its number" {
    echo '{"delivery":"queued","params":{"type":"object"}}' > order.json
    program order 'echo "$BINDER_PARAM_n" >> begun; until [ -e "go$BINDER_PARAM_n" ]; do sleep .05; done; echo "$BINDER_PARAM_n" >> orders; echo "$BINDER_PARAM_n"'
    beside bindctl serve shop.order=./order
    eventually provided shop
    bindctl call shop.order n:=1
    eventually lines_in begun 1
    # The program works on while the daemon gets an empty journal, in which the next call has the same number.
    kill_daemon
    rm -f journal.db*
    start_daemon
    eventually provided shop
    bindctl call shop.order n:=2
    eventually field services/shop value.queued 1
    : > go1
    eventually lines_in orders 1
    eventually lines_in begun 2
    field services/shop value.queued 1
    : > go2
    eventually field services/shop value.queued 0
    is "$(tr '\n' ' ' < orders)" "1 2 "
    is "$(bindctl events --type 'services.answered' -F '{event.data.value}')" 2
}

@test "publish sets a live value, or one that the journal keeps" {
    is "$(bindctl publish door/open true)" ""
    is "$(bindctl get live/door/open)" true
    bindctl publish door/opened 7 --keep
    is "$(bindctl get services/door/opened)" 7
    kill_daemon
    start_daemon
    run ! bindctl get live/door/open
    is "$(bindctl get services/door/opened)" 7
    bindctl publish door/opened --keep
    run ! bindctl get services/door/opened
    run --separate-stderr bindctl publish a//b 1
    [ "$status" = 5 ]
}

distinct() { [ "$(sort -u done | wc -l)" = "$1" ]; } # count

# Adds jobs to a queue.
add_jobs() { # from to
    for ((i = $1; i <= $2; i++)); do bindctl call lists.append name=q value="job$i"; done > no
}

@test "workers share the events of a reader, and each is done" {
    : > done
    for worker in a b; do
        beside bindctl work w --stream lists/q --since start --jobs 2 -- sh -c 'cat >> done; sleep .1; echo '$worker' >> by'
    done
    traced '"sub":"work","source":"events","kind":"events"' 2
    add_jobs 1 12
    eventually lines_in done 12
    add_jobs 13 20
    eventually lines_in done 20
    [ "$(sort by | uniq -c | awk '$1 >= 2' | wc -l)" = 2 ]
    [ "$(jq -r .event.data.value done | sort -u | wc -l)" = 20 ]
    # The one that is asked to end finishes its jobs first.
    kill -TERM "${background[-1]}"
    status=0
    wait "${background[-1]}" || status=$?
    is "$status" 143
    eventually field readers/w value.parked_count 0
}

@test "a job that fails is delivered again, and parked with its reason" {
    : > log
    beside bindctl work w --stream lists/q --max-deliveries 3 --retry-delay 20ms -- \
        sh -c 'echo "$BINDER_SEQ $BINDER_ATTEMPT" >> log; grep -q job1 && exit 7; exit 0'
    eventually bindctl get readers/w
    add_jobs 1 2
    eventually field readers/w value.parked_count 1
    is "$(bindctl get readers/w | jq -c '.parked | map([.reason, .deliveries])')" '[["exited with 7",3]]'
    attempts() { [ "$(cut -d' ' -f2 log | sort | tr '\n' ' ')" = "$1" ]; }
    eventually attempts "1 1 2 3 "
    eventually grep -qF "again in 0.02 s" err
    is "$(bindctl call readers.drop name=w)" 1
    field readers/w value.parked_count 0
}

@test "a killed worker loses no job, and a slow one keeps it" {
    add_jobs 1 3
    : > done
    beside bindctl work w --stream lists/q --since start --ack-wait 300ms -- \
        sh -c 'touch begun; until [ -e go ]; do sleep .05; done; cat >> done'
    victim=${background[-1]}
    eventually [ -e begun ]
    beside bindctl work w --stream lists/q --ack-wait 300ms -- sh -c 'cat >> done'
    eventually distinct 2
    kill -KILL "$victim" # its command goes on without it
    touch go
    eventually distinct 3
    field readers/w value.parked_count 0
}

@test "a worker whose command cannot be run gives the event back and ends" {
    beside bindctl work w --stream lists/q -- /nonexistent/program
    eventually bindctl get readers/w
    add_jobs 1 1
    status=0
    wait "${background[-1]}" || status=$?
    is "$status" 127
    # It asks for no more events before it gives this one back: otherwise it may get it again.
    is "$(grep -o '"method":"\(drain\|nack\)"' trace | tr -d '\n')" '"method":"drain""method":"nack"'
    : > done
    beside bindctl work w --stream lists/q -- sh -c 'echo "$BINDER_ATTEMPT" >> done'
    eventually has done 1
}

@test "workers go on after a crash of the daemon" {
    : > done
    add_jobs 1 4
    beside bindctl work w --stream lists/q --since start -- sh -c 'sleep .3; echo "$BINDER_SEQ" >> done'
    eventually [ -s done ]
    kill_daemon
    start_daemon
    add_jobs 5 6
    eventually distinct 6
    # A job that ended while the daemon was away is not done again.
    is "$(wc -l < done)" 6
}
