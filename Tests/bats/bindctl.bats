# bindctl: the output and exit code of each command.

load support

setup() {
    make_place
    start_daemon
}

teardown() { remove_place; }

# Runs bindctl and compares its output and exit code.
gives() { # status output argument...
    run --separate-stderr bindctl "${@:3}"
    is "$status" "$1"
    is "$output" "$2"
    [ "$1" -gt 0 ] || is "$stderr" ''
}

# Runs bindctl; expects one sentence on stderr and nothing on stdout.
refuses() { # status sentence argument...
    run --separate-stderr bindctl "${@:3}"
    is "$status" "$1"
    is "$stderr" "bindctl: $2"
    is "$output" ''
}

# Starts a fake daemon that answers each connection with a script.
start_false_daemon() { # script
    unset BINDER_TRACE # its lines do not conform to the schema
    socat "UNIX-LISTEN:$directory/false.sock,fork" "SYSTEM:$1" 3>&- &
    background+=($!)
    export BINDER_SOCKET=$directory/false.sock
    eventually listens "$BINDER_SOCKET"
}

@test "a minute of use: set, get, watch, a line by socat, the past, and all of it after kill -9" {
    bindctl set cells/lamp true
    is "$(bindctl get cells/lamp)" true
    beside bindctl watch 'cells/**'
    eventually has out '--- live after 1'
    answer=$(echo '{"id":1,"method":"cells.add","params":{"name":"visits","by":1}}' |
        socat - "UNIX-CONNECT:$BINDER_SOCKET")
    is "$answer" '{"jsonrpc":"2.0","id":1,"result":{"value":1,"seq":2,"version":1}}'
    eventually has out $'cells/visits\t1'
    is "$(bindctl events -n 5 | cut -f 1,3-)" \
        $'1\tcells.set\tcells/lamp\t{"value":true}\n2\tcells.set\tcells/visits\t{"value":1}'
    is "$(bindctl history cells/lamp | cut -f 1,3-)" $'1\t1\ttrue'
    refuses 4 "'cells/lamp' had no value at -1m; 'bindctl history cells/lamp' shows when it had one" \
        get cells/lamp --at -1m
    kill_daemon
    start_daemon
    is "$(bindctl get 'cells/**')" $'cells/lamp\ttrue\ncells/visits\t1'
    bindctl set cells/lamp false
    eventually has out $'cells/lamp\tfalse'
    is "$(cat "$directory/out")" \
        $'cells/lamp\ttrue\n--- live after 1\ncells/visits\t1\ncells/lamp\tfalse'
}

@test "get prints the value, in every form" {
    bindctl set cells/name Kim
    bindctl set cells/all '{"a": [1, 2.50], "b": null}'
    gives 0 '"Kim"' get cells/name
    gives 0 'Kim' get cells/name -r
    gives 0 '{"source":"cells/name","kind":"state","seq":2,"value":"Kim"}' get cells/name -j
    gives 0 'cells/name is Kim at 2' get cells/name -F '{source} is {value} at {seq}'
    gives 0 '[1,2.50]' -F '{value.a}' get cells/all
    gives 0 $'cells/name\t"Kim"\ncells/all\t{"a":[1,2.50],"b":null}' get cells/name cells/all
    gives 0 $'cells/all={"a":[1,2.50],"b":null}\ncells/name=Kim' get 'cells/*' -F '{source}={value}'
    gives 0 '' get 'cells/none/**'
    refuses 4 "no source 'cells/nmae'; did you mean 'cells/name'?" get cells/nmae
    refuses 2 "--json and --raw cannot be used together; see 'bindctl help'" get cells/name -jr
}

@test "get --at tells what was" {
    bindctl set cells/lamp 1
    sleep .05
    middle=$(date -u +%Y-%m-%dT%H:%M:%S.%NZ)
    sleep .05
    bindctl set cells/lamp 2
    bindctl remove cells/lamp
    for at in 1 start "$middle"; do gives 0 1 get cells/lamp --at "$at"; done
    TZ=Asia/Tokyo gives 0 1 get cells/lamp --at "$(TZ=Asia/Tokyo date -d "$middle" +%Y-%m-%dT%H:%M:%S.%N)"
    gives 0 2 get cells/lamp --at 2
    refuses 4 "'cells/lamp' had no value at 3; 'bindctl history cells/lamp' shows when it had one" \
        get cells/lamp --at 3
    refuses 1 'position 9 is beyond the end of the journal (3)' get cells/lamp --at 9
    refuses 2 "'noon' is not a time; for example: 81234 (a position), -5m, 08:30, yesterday; see 'bindctl help when'" \
        get cells/lamp --at noon
}

@test "times are typed as the clocks here show them" {
    export TZ=Asia/Kolkata # its clocks are never put back, so each time of a day is one moment
    bindctl set cells/lamp 1
    sleep .05
    for at in "$(date +%H:%M:%S.%N)" "today $(date +%H:%M:%S.%N)" "@$(date +%s.%N)" '0s ago' tomorrow; do
        gives 0 1 get cells/lamp --at "$at"
    done
    TZ=Asia/Tokyo gives 0 1 get cells/lamp --at "$(TZ=Asia/Tokyo date +%H:%M:%S.%N)"
    for at in yesterday '1h ago' 'yesterday 08:30' '2 days ago' @1000000000; do
        run --separate-stderr bindctl get cells/lamp --at "$at"
        is "$status" 4
    done
    gives 1 '+ cells/lamp 1' at yesterday --diff
    is "$(bindctl events --since yesterday --until tomorrow | wc -l)" 1
}

@test "a format with a member that no such result has is refused" {
    bindctl set cells/a 1
    refuses 2 "no member 'nosuch' (there are: source, kind, seq, value); see 'bindctl help forms'" \
        get cells/a -F '{nosuch}'
    refuses 2 "no member 'event.tpye' (there are: event.type, event.stream, event.version, event.time, event.data); see 'bindctl help forms'" \
        events -F '{event.tpye}'
    gives 0 '1 ' get cells/a -F '{value} {gone}'
}

@test "set takes JSON, words, stdin and files" {
    for value in true -5 1.50 '"5"' '[1,2]' null; do
        gives 0 '' set cells/a "$value"
        gives 0 "$value" get cells/a
    done
    bindctl set cells/a 'two words'
    gives 0 '"two words"' get cells/a
    bindctl set cells/a -s 5
    gives 0 '"5"' get cells/a
    echo '{"b": 1}' | bindctl set cells/a -
    gives 0 '{"b":1}' get cells/a
    printf 'line\nline\n' > "$directory/file"
    bindctl set cells/a "@$directory/file"
    gives 0 '"line\nline"' get cells/a
    gives 0 '{"value":1,"seq":11,"version":11}' set cells/a 1 -j
    refuses 2 "'/nowhere' cannot be read: No such file or directory" set cells/a @/nowhere
    refuses 2 '/dev/zero is larger than 64 MiB; a value has at most 256 KiB' set cells/a @/dev/zero
    refuses 4 "no source 'nowhere/a'; 'bindctl services' lists the services" set nowhere/a 1
    refuses 5 "source 'system/load' is not writable" set system/load 1
}

@test "set - sets many in one commit, as get prints them, or nothing" {
    printf 'cells/a 1\n\ncells/b\t{"x": [1, 2]}\ncells/c two words\nlists/l [1]\n' | bindctl set -
    is "$(bindctl get 'cells/**')" $'cells/a\t1\ncells/b\t{"x":[1,2]}\ncells/c\t"two words"'
    is "$(bindctl events -j | jq -s 'length')" 4
    bindctl get 'cells/**' > "$directory/kept"
    bindctl set cells/a 2
    bindctl set - < "$directory/kept"
    is "$(bindctl get cells/a)" 1

    run --separate-stderr bindctl set - <<< $'cells/a 7\nnowhere/x 1'
    is "$status" 4
    is "$stderr" "bindctl: line 2, nowhere/x: no source 'nowhere/x'; nothing was set"
    run --separate-stderr bindctl set - <<< $'cells/a 7\ncells/b'
    is "$status" 2
    is "$stderr" "bindctl: line 2, cells/b: expected 'SRC VALUE'"
    is "$(bindctl get cells/a)" 1
    refuses 2 "option '--if' needs one SRC, not '-'; see 'bindctl help set'" set - --if 1
}

@test "atomic runs steps in one commit if conditions hold" {
    gives 0 '' set cells/stock 4
    gives 0 1 atomic --if 'cells/stock >= 3' -- call cells.add name=stock by:=-3 -- set cells/sold true
    refuses 5 "'cells/stock >= 3' does not hold: it is 1" atomic --if 'cells/stock >= 3' \
        -- call cells.add name=stock by:=-3
    gives 0 '' atomic --if 'cells/room !exists' -- set -s cells/room @home -- set cells/at '[1, 2]'
    gives 0 '"@home"' get cells/room
    gives 0 '[1,2]' get cells/at
    refuses 5 "'cells/room !exists' does not hold: it is \"@home\"" atomic --if 'cells/room !exists' \
        -- set cells/room other
    gives 0 2 atomic --cmd x -- call cells.add name=stock
    gives 0 '{"values":[2],"seq":6,"events":1,"replayed":true}' --json atomic --cmd x \
        -- call cells.add name=stock
    # Nothing of it happens if one step is refused.
    refuses 5 "step 2: cell 'room' is not a number" atomic -- set cells/room2 1 -- call cells.add name=room
    gives 4 '' get cells/room2
    refuses 2 "a step begins with --: bindctl atomic -- set …; see 'bindctl help atomic'" atomic set cells/a 1
    refuses 2 "missing a step, such as: -- set SRC VALUE; see 'bindctl help atomic'" atomic
    refuses 2 "a step is 'set' or 'call', not 'get'; see 'bindctl help atomic'" atomic -- get cells/a
    refuses 2 "an empty step: two -- in a row, or one at the end; see 'bindctl help atomic'" atomic -- set cells/a 1 --
    refuses 2 "'cells/a' is not a condition; for example: 'a/b > 20'; see 'bindctl help atomic'" \
        atomic --if cells/a -- set cells/a 1
}

@test "set --if and --if-version refuse what has moved on" {
    gives 0 '' set cells/lock mine --if null
    refuses 5 "cell 'lock' holds another value" set cells/lock yours --if null
    gives 0 '' set cells/lock yours --if mine
    gives 0 '' set cells/lock 3 --if-version 2
    refuses 5 "stream 'cells/lock' is at version 3, expected version 2; read it again before you set it" \
        set cells/lock 4 --if-version 2
    refuses 2 "--if-version takes a number, none, exists or any, not 'x'; see 'bindctl help set'" set cells/lock 4 --if-version x
    refuses 2 "--ttl takes 100ms to 31d, not '90d'; see 'bindctl help set'" set cells/lock 4 --ttl 90d
    refuses 2 "--if takes a cell, not 'system/load'; see 'bindctl help set'" set system/load 1 --if 2
    gives 0 3 get cells/lock
}

@test "remove removes a cell, and says when there was none" {
    bindctl set cells/a 1
    gives 0 '' remove cells/a
    refuses 4 "no source 'cells/a'; 'bindctl get \"cells/**\"' lists those that exist" get cells/a
    refuses 1 "'cells/a' was not set" remove cells/a
    refuses 2 "remove takes a cell, for example cells/lamp, not 'system/load'; see 'bindctl help remove'" remove system/load
}

@test "remove of a pattern shows the cells and asks; in a script it needs --yes" {
    refuses 1 "no cell matches 'cells/x/*'" remove 'cells/x/*'
    printf '%s\n' 'cells/x/a 1' 'cells/x/b [2]' 'cells/y 3' | bindctl set -
    run --separate-stderr bindctl remove 'cells/x/*'
    [ "$status" -eq 2 ]
    is "$output" $'- cells/x/a 1\n- cells/x/b [2]'
    is "$stderr" "bindctl: there is no terminal to ask 'Remove these 2 cells?'; add --yes; see 'bindctl help remove'"
    run -0 --separate-stderr bindctl remove 'cells/x/*' --yes
    is "$output" $'- cells/x/a 1\n- cells/x/b [2]'
    [[ "$stderr" == 'bindctl: to undo that: bindctl undo --since '* ]]
    is "$(bindctl at now 'cells/**')" $'cells/y\t3'
    bindctl ${stderr#*undo that: bindctl} --yes
    gives 0 $'cells/x/a\t1\ncells/x/b\t[2]\ncells/y\t3' at now 'cells/**'
    # Of one cell it is one event.
    bindctl set cells/z/one 3
    run -0 --separate-stderr bindctl remove 'cells/z/*' --yes
    bindctl ${stderr#*undo that: bindctl} --yes
    is "$(bindctl get cells/z/one)" 3
    is "$(bindctl remove 'cells/z/*' --yes -q 2>&1)" '- cells/z/one 3'
}

@test "undo takes back an event, a span, a user's work and a command, and itself" {
    bindctl set cells/a 1
    bindctl call cells.set name=a value:=2 --cmd two > /dev/null
    bindctl call lists.append name=l value=x
    run --separate-stderr bindctl undo --since 1 --yes
    [ "$status" -eq 0 ]
    is "$output" $'~ cells/a 2 -> 1\n~ lists/l ["x"] -> []'
    is "$stderr" 'bindctl: to undo that: bindctl undo --since 3 --until 5'
    bindctl ${stderr#*undo that: bindctl} --yes
    gives 0 2 get cells/a
    gives 0 '["x"]' get lists/l
    bindctl set cells/b 1
    run --separate-stderr bindctl undo --cmd two --preview
    is "$status" 0
    is "$output" '~ cells/a 2 -> 1'
    refuses 1 'nothing to undo' undo --cmd none --preview
    gives 0 '- cells/b 1' undo --since 5 --by "$(id -un)" 'cells/b' --yes -q
    gives 0 '~ cells/a 2 -> 1' undo --cmd two --force --yes -q
}

@test "why leads from a value to who has begun it, through bindings, leases, queued calls and scripts" {
    why() { bindctl why "$1" -j | jq -r '[.source, .value, .end] | map(select(. != null) | tostring) | join(" ")'; }
    bindctl bind --daemon 'cells/a | round(0) ~> cells/b' > /dev/null
    bindctl set cells/a 1.6
    eventually bindctl is cells/b 2
    is "$(why cells/b)" $'cells/b 2\ncells/a 1.6'
    bindctl why cells/b | grep -q "binding 1: cells/a | round(0) ~> cells/b"
    bindctl why cells/b | grep -q "$(id -un) bindctl.* set$"
    bindctl bind --daemon 'every(1s) ~> cells/tick' > /dev/null
    eventually bindctl is 'cells/tick exists'
    is "$(why cells/tick | tail -n 1)" 'every(1s) not_journaled'
    bindctl set cells/short 1 --ttl 100ms > /dev/null
    eventually bindctl is 'cells/short !exists'
    bindctl why cells/short | grep -q 'lease.end$'
    is "$(why cells/short | sed 's/ .*//')" "$(printf '%s\n' cells/short lease/1)"
    # What a program sets while it works on an event is caused by the event.
    bindctl call lists.append name=jobs value=1 > /dev/null
    beside bindctl work w --stream lists/jobs --since start -- bindctl set cells/done true
    eventually bindctl is cells/done
    is "$(why cells/done)" $'cells/done true\nlists/jobs'
    # What a client has said is marked, and what the daemon knows is not.
    is "$(bindctl why cells/done -j | jq -c '[.source, .cause]')" $'["cells/done","client"]\n["lists/jobs",null]'
    bindctl why cells/done | grep -qF ', cause said by the client'
    is "$(bindctl why cells/b -j | jq -c .cause)" $'null\nnull'
    refuses 1 "nothing has changed 'cells/none'" why cells/none
    refuses 2 "why takes one source, not the pattern 'cells/*'; see 'bindctl help why'" why 'cells/*'
    refuses 5 "'system/load' is not journaled: it has no history" why system/load
}

@test "call and atomic wait with --settle for what bindings write, as set does" {
    bindctl describe cells/warm --set 'number, 0…19'
    bindctl bind --daemon 'cells/celsius | offset(1) ~> cells/warm'
    gives 0 $'3\ncells/warm 4  (cells/celsius | offset(1) ~> cells/warm)' call cells.set name=celsius value:=3 --settle
    gives 0 $'8\ncells/warm 9  (cells/celsius | offset(1) ~> cells/warm)' atomic --settle -- call cells.add name=celsius by:=5 -- set cells/b 1
    is "$(bindctl call cells.set name=celsius value:=4 --settle -j | jq -c '.effects.writes | map([.source, .value])')" '[["cells/warm",5]]'
    is "$(bindctl atomic -j --settle -- set cells/celsius 5 | jq -c '.effects.writes | map([.source, .value])')" '[["cells/warm",6]]'
    # Without it nothing is listed.
    gives 0 6 call cells.set name=celsius value:=6
    for command in 'call cells.set name=celsius value:=25 --settle' 'atomic --settle -- set cells/celsius 26'; do
        run -1 --separate-stderr bindctl $command
        [[ $stderr == "bindctl: 'cells/warm' was not written: "* ]]
    done
    refuses 2 "--cmd, --expect and --settle need arguments by name, not […]; see 'bindctl help call'" call cells.set '["a", 1]' --settle
}

@test "a comparison with a text, and position 0, are named" {
    bindctl set cells/text dusk
    bindctl bind --daemon 'cells/t | below(cells/text) ~> cells/x' 2> "$directory/no"
    bindctl set cells/t 1
    [[ "$(bindctl bindings)" == *"'minus' or a comparison of two sources takes a number, not \"dusk\""* ]]
    refuses 2 "SEQ is the position of an event, from 1, not 0; see 'bindctl help undo'" undo 0
    is "$(echo '{"id":1,"method":"undo","params":{"seq":0}}' | bindctl pipe | jq -r .error.message)" 'the position of an event, from 1'
}

@test "set --settle fails if a binding could not write, and undo --by alone names its hour" {
    bindctl describe cells/warm --set 'number, 0…19'
    bindctl bind --daemon 'cells/celsius | offset(1) ~> cells/warm'
    bindctl set --settle cells/celsius 3
    run -1 bindctl set --settle cells/celsius 25
    run -0 --separate-stderr bindctl undo --by "$(id -un)" cells/celsius --preview
    [[ $stderr == *'what the user has changed in the last hour, since '*'; see --since'* ]]
}

@test "undo takes back declared types and kept bindings" {
    bindctl describe cells/a --set number
    bindctl bind --daemon --name n 'cells/a | count ~> cells/n' 2> /dev/null
    bindctl set cells/a 1
    bindctl set cells/a 2 --settle 2> /dev/null
    bindctl unbind n
    bindctl describe cells/a --unset > /dev/null
    bindctl describe 'cells/b' --set boolean
    seq=$(bindctl events -j -n 4 | jq -s '.[0].seq - 1')
    run -0 --separate-stderr bindctl undo --since "$seq" --preview
    is "$output" $'+ bindings/n "cells/a | count ~> cells/n"\n~ types/declared {"cells/b":"boolean"} -> {"cells/a":"number"}'
    run -0 --separate-stderr bindctl undo --since "$seq" --yes
    is "$(bindctl describe --types)" $'cells/a\tnumber\t'
    bindctl set cells/a 3 --settle
    is "$(bindctl get cells/n)" 3
    bindctl ${stderr#*undo that: bindctl} --yes
    is "$(bindctl bindings -r)" ''
    is "$(bindctl describe --types)" $'cells/b\tboolean\t'
}

@test "undo refuses what has changed since, and names it" {
    bindctl set cells/a 1
    bindctl set cells/a 2
    bindctl set cells/a 3
    run --separate-stderr bindctl undo 2 --yes
    [ "$status" -eq 5 ]
    is "$output" '~ cells/a 3 -> 1'
    is "$stderr" "bindctl: event 3 has changed 'cells/a' since; --preview shows all changes, --force overwrites it"
    gives 0 '~ cells/a 3 -> 1' undo 2 --force --yes -q
    gives 0 1 get cells/a
    run --separate-stderr bindctl undo 4
    is "$status $output" '2 ~ cells/a 1 -> 3'
    is "$stderr" "bindctl: there is no terminal to ask 'Undo this change?'; add --yes; see 'bindctl help undo'"
    refuses 2 "missing argument SEQ, the position of an event, or --since, --by or --cmd; see 'bindctl help undo'" undo 'cells/**'
    refuses 2 "no user 'nobody-here'; see 'bindctl help undo'" undo --since 1 --by nobody-here
}

@test "each wrong option of web gets a line of bindctl, not of a log" {
    refuses 2 "--port takes a number from 0 to 65535, not '80x'; see 'bindctl help web'" web --port 80x
    refuses 2 "--name takes a host name such as box.example.org, not 'a b'; see 'bindctl help web'" web --name 'a b'
}

@test "call passes arguments by name, as JSON and by position, with its options" {
    gives 0 2 call cells.add name=n by:=2
    gives 0 5 call cells.add '{"name": "n", "by": 3}'
    gives 0 '{"value":6,"seq":3,"version":3}' call cells.add '["n", 1]' -j
    gives 0 7 call cells.add name=n --cmd once
    gives 0 '{"value":7,"seq":4,"version":4,"replayed":true}' call cells.add name=n --cmd once -j
    gives 0 8 call cells.add name=n --expect cells/n=4
    refuses 5 "stream 'cells/n' is at version 5, expected version 4; read it again before you set it" \
        call cells.add name=n --expect cells/n=4
    refuses 2 "--expect takes STREAM=N, where N is a number, none, exists or any, not 'cells/n=new'; see 'bindctl help call'" \
        call cells.add name=n --expect cells/n=new
    refuses 4 "no method 'cells.ad'; did you mean 'cells.add'?" call cells.ad name=n
    refuses 5 "unknown parameter 'nmae'" call cells.toggle name=n nmae=m
    refuses 5 "missing parameter 'name' (string); unknown parameter 'nmae'; did you mean 'name'?" call cells.toggle nmae=m
    run --separate-stderr bindctl call people.rename id:=9 name=x
    is "$status" 4
    [[ $stderr == *"; 'bindctl get \"people/**\"' lists those that exist" ]]
    refuses 5 "expected integer at /thread, got string; use ':=' for values other than text, as in thread:=1" \
        call threads.like thread=1 post:=1
    refuses 2 "the argument 'n' is neither name=text nor name:=json; see 'bindctl help call'" call cells.add n
    refuses 2 "'{' in 'by:={' is not JSON: the text ends too early at byte 1; see 'bindctl help call'" \
        call cells.add name=n by:={
}

@test "is answers by its exit code" {
    bindctl set cells/lamp true
    bindctl set cells/temp 20.5
    gives 0 '' is cells/lamp
    gives 1 '' is cells/lamp false
    gives 0 '' is cells/temp 20.50
    gives 0 '' is 'cells/temp > 20'
    gives 1 '' is 'cells/temp <= 20'
    gives 1 '' is cells/none
    gives 0 '' is 'cells/none != true'
    refuses 4 "no source 'nowhere/a'; 'bindctl services' lists the services" is nowhere/a
    refuses 2 "is takes one source, not the pattern 'cells/*'; see 'bindctl help is'" is 'cells/*'
}

@test "wait returns at once, when the value comes, or when the time is over" {
    bindctl set cells/temp 20
    gives 0 20 wait cells/temp 20
    refuses 124 "timed out waiting for cells/temp > 30 (now 20)" wait 'cells/temp > 30' -t 0.1
    refuses 124 "timed out waiting for cells/none == true (not set)" wait cells/none -t 100ms
    gives 0 20 wait cells/temp 20 --timeout 0
    refuses 124 "timed out waiting for cells/temp > 30 (now 20)" wait 'cells/temp > 30' --timeout 0
    beside timeout 60 bindctl wait 'cells/temp > 30' -t 60
    waiting=${background[-1]}
    eventually subscriptions 1
    # No sleep in between: the wait must also see a short-lived value.
    bindctl call cells.set name=temp value:=31
    bindctl call cells.set name=temp value:=19
    wait "$waiting"
    is "$(cat "$directory/out")" 31
    eventually subscriptions 0
    beside timeout 60 bindctl wait cells/temp --change -j
    eventually subscriptions 1
    bindctl set cells/temp 19
    wait "${background[-1]}"
    is "$(cat "$directory/out")" '{"source":"cells/temp","seq":4,"value":19}'
}

@test "is, wait and the daemon agree, also on what is not set and above 2^53" {
    bindctl set cells/big 9007199254740993
    bindctl set cells/word -s kim
    local line expected code op value source raw
    while read -r expected source op value; do
        code=0
        bindctl is "$source $op $value" || code=$?
        is "$source $op $value: is $code" "$source $op $value: is $expected"
        code=0
        bindctl wait "$source $op $value" -t 0 > "$directory/out" 2> "$directory/err" || code=$?
        is "$source $op $value: wait $code" "$source $op $value: wait $((expected == 0 ? 0 : 124))"
        raw=$(printf '{"id":1,"method":"wait","params":{"source":"%s","op":"%s","value":%s,"_meta":{"timeout_ms":50}}}\n' \
            "$source" "$op" "$value" | socat -t5 - "UNIX-CONNECT:$BINDER_SOCKET")
        code=0
        jq -e .result <<< "$raw" > "$directory/no" || code=1
        is "$source $op $value: raw $code" "$source $op $value: raw $expected"
    done <<'END'
0 cells/none != 5
1 cells/none == 5
1 cells/none < 5
0 cells/none != null
0 cells/big > 9007199254740992
1 cells/big <= 9007199254740992
0 cells/big == 9007199254740993.0
1 cells/big == 9007199254740992
0 cells/word < "kin"
1 cells/word < 5
0 cells/word != 5
0 lists/none == []
1 lists/none != []
0 maps/none == {}
1 maps/none != {}
END
    refuses 2 "'cells/big > true' is not a condition; for example: 'a/b > 20'; see 'bindctl help is'" is 'cells/big > true'
}

@test "is and wait know an empty list: wait goes on when it has an element" {
    gives 0 '' is 'lists/q == []'
    gives 1 '' is 'lists/q != []'
    refuses 2 "'lists/q' exists even if it is empty; use 'lists/q != []'; see 'bindctl help is'" is 'lists/q exists'
    gives 0 '[]' wait 'lists/q == []' -t 60
    beside timeout 60 bindctl wait 'lists/q != []' -t 60
    waiting=${background[-1]}
    eventually subscriptions 1
    bindctl call lists.append name=q value:=1 > "$directory/no"
    wait "$waiting"
    is "$(cat "$directory/out")" '[1]'
    bindctl call lists.remove name=q at:=0 > "$directory/no"
    gives 0 '' is 'lists/q == []'
    gives 0 '[]' wait 'lists/q == []' -t 60
}

@test "wait begins again when the journal was replaced meanwhile" {
    bindctl set cells/temp 1
    beside timeout 60 bindctl wait cells/temp 5
    waiting=${background[-1]}
    eventually subscriptions 1
    kill_daemon
    rm "$directory"/journal.db*
    start_daemon
    eventually subscriptions 1
    bindctl set cells/temp 5
    wait "$waiting"
    is "$(cat "$directory/out")" 5
}

@test "wait goes on when the daemon was restarted" {
    beside timeout 60 bindctl wait cells/temp 5
    waiting=${background[-1]}
    eventually subscriptions 1
    kill_daemon
    start_daemon
    bindctl set cells/temp 5
    wait "$waiting"
    is "$(cat "$directory/out")" 5
}

@test "watch shows the present, a mark, and every change, in every form" {
    bindctl set cells/a 1
    bindctl set cells/b '"x"'
    change() {
        eventually has out "$1"
        bindctl set cells/a null
        bindctl remove cells/b
        wait "${background[-1]}"
        bindctl set cells/a 1
        bindctl set cells/b '"x"'
    }
    beside bindctl watch 'cells/*' -n 2
    change '--- live after 2'
    is "$(cat "$directory/out")" \
        $'cells/a\t1\ncells/b\t"x"\n--- live after 2\ncells/a\tnull\ncells/b\t(gone)'
    beside bindctl watch 'cells/*' -n 2 -j
    change '{"caught_up":true,"seq":6}'
    is "$(cat "$directory/out")" '{"seq":6,"source":"cells/a","value":1}
{"seq":6,"source":"cells/b","value":"x"}
{"caught_up":true,"seq":6}
{"seq":7,"source":"cells/a","value":null}
{"seq":8,"source":"cells/b","gone":true}'
    beside bindctl watch cells/a cells/b -n 2 -F '{source}={value}'
    change 'cells/b=x'
    is "$(cat "$directory/out")" $'cells/a=1\ncells/b=x\ncells/a=null\ncells/b='
    gives 0 $'cells/a\t1\ncells/a\tnull' watch cells/a --since start -n 2
    gives 0 $'null\n1' watch cells/a --since 10 -n 2 -r
}

@test "watch --changes-only leaves out what is there; --every thins out" {
    bindctl set cells/a 0
    beside bindctl watch cells/a --changes-only --every 200ms -r
    eventually subscriptions 1
    for i in {1..100}; do echo "{\"id\":$i,\"method\":\"cells.set\",\"params\":[\"a\",$i]}"; done |
        bindctl pipe | tail -1
    eventually has out 100
    has out 0 && return 1
    lines=$(wc -l < "$directory/out")
    [ "$lines" -lt 50 ]
}

@test "watch shows what is measured as well, and refuses what is not there" {
    run --separate-stderr bindctl watch system/load daemon/stats -n 2
    is "$status" 0
    is "$(cut -d '{' -f 1 <<< "$output" | sort -u)" $'--- live\ndaemon/stats\t\nsystem/load\t'
    refuses 4 "no source 'nowhere/a'; 'bindctl services' lists the services" watch nowhere/a
    refuses 5 'mode "every" needs a journaled source' watch system/load --since 1
}

@test "watch goes on after kill -9 and a restart, without gap or repeat" {
    bindctl set cells/n 0
    beside bindctl watch cells/n -r
    eventually has out 0
    for round in 0 1 2 3; do
        for i in {1..10}; do bindctl set cells/n $((round * 10 + i)); done
        kill_daemon
        start_daemon
    done
    bindctl set cells/n end
    eventually has out end
    is "$(tr '\n' ' ' < "$directory/out")" "$(seq -s ' ' 0 40) end "
    is "$(head -1 "$directory/err")" 'bindctl: the connection is lost; waiting for the daemon'
    # The last value may not have arrived before the kill.
    [[ $(sed -n 2p "$directory/err") =~ ^'bindctl: connected again; continuing after '1[01]$ ]]
}

@test "events -f goes on after kill -9 and a restart, without gap or repeat" {
    bindctl set cells/a 0
    beside bindctl events 'cells/a' -f -j
    eventually grep -q '"seq":1,' "$directory/out"
    for round in 0 1 2 3; do
        for i in {1..10}; do
            bindctl call cells.add name=a
            bindctl set cells/other "$i"
        done > /dev/null
        kill_daemon
        start_daemon
    done
    eventually grep -q '"version":41,' "$directory/out"
    is "$(jq -c '[.event.stream, .event.version, .event.data.value]' "$directory/out")" \
        "$(for i in {0..40}; do echo "[\"cells/a\",$((i + 1)),$i]"; done)"
    [ "$(jq .seq "$directory/out" | sort -nu | wc -l)" = 41 ]
}

@test "a daemon that ends in order says why, and streams wait for the next one" {
    beside bindctl events -f -n 0 -F '{seq}'
    eventually subscriptions 1
    kill -TERM "$daemon"
    wait "$daemon"
    start_daemon
    bindctl set cells/a 1
    eventually has out 1
    is "$(cat "$directory/err")" 'bindctl: the daemon has closed the connection (shutdown); waiting for it
bindctl: connected again; continuing after 0'
}

@test "a stream that is not to reconnect ends with 6; one whose journal was replaced ends too" {
    bindctl set cells/a 1
    beside bindctl watch cells/a --no-reconnect
    alone=${background[-1]}
    eventually has out '--- live after 1'
    kill_daemon
    status=0
    wait "$alone" || status=$?
    is "$status" 6
    is "$(cat "$directory/err")" 'bindctl: the connection to the daemon was lost'
    start_daemon
    beside bindctl watch cells/a
    eventually has out '--- live after 1'
    kill_daemon
    rm "$directory"/journal.db*
    start_daemon
    status=0
    wait "${background[-1]}" || status=$?
    is "$status" 1
    is "$(tail -1 "$directory/err")" \
        'bindctl: the position belongs to another journal; the journal was replaced: older positions are invalid'
}

@test "a reader that goes away ends a stream at once, without a word" {
    bindctl set cells/a 1
    for command in "watch cells/a" 'events -f' 'wait cells/a 2'; do
        # bindctl notices the closed pipe even without another write.
        # shellcheck disable=SC2086
        timeout 60 bindctl $command 2> "$directory/err" | sleep .3
        is "${PIPESTATUS[0]}" 141
        is "$(cat "$directory/err")" ''
    done
    yes '{"id":1,"method":"stats"}' | timeout 60 bindctl pipe 2> "$directory/err" | head -1 | grep -q result
    is "$(cat "$directory/err")" ''
}

@test "events shows the last, those of a stream, of a type, since and until" {
    for i in {1..25}; do bindctl set cells/a "$i"; done
    bindctl remove cells/a
    bindctl set cells/b/c 1
    seqs() { bindctl events -F '{seq}' "$@" | tr '\n' ' '; }
    is "$(seqs)" "$(seq -s ' ' 8 27) "
    is "$(seqs -n 2)" '26 27 '
    is "$(seqs cells/a -n 2)" '25 26 '
    is "$(seqs 'cells/*/*')" '27 '
    is "$(seqs --type cells.removed)" '26 '
    is "$(seqs --since 24)" '25 26 27 '
    is "$(seqs --since 24 --until 26)" '25 26 '
    is "$(seqs --since start -n 2 --until 9)" '8 9 '
    is "$(seqs --since -1h | wc -w)" 27
    is "$(seqs --until -1h)" ''
    is "$(seqs --since 27)" ''
    refuses 1 'position 28 is beyond the end of the journal (27)' events --since 28
    is "$(bindctl events -n 1 -r)" '{"value":1}'
    is "$(bindctl events -n 1 -j | jq -c '[.seq, .event.type, .event.stream, .event.version, .event.data]')" \
        '[27,"cells.set","cells/b/c",1,{"value":1}]'
    refuses 2 "--until and --follow cannot be used together; see 'bindctl help events'" events -f --until now
    refuses 2 "--count takes a number, not 'x'; see 'bindctl help events'" events -n x
}

@test "events reads a journal of many pages" {
    for i in {1..2500}; do echo '{"id":1,"method":"cells.add","params":["n"]}'; done |
        bindctl pipe | tail -1
    is "$(bindctl get cells/n)" 2500
    is "$(bindctl events -n 2300 -F '{seq}' | md5sum)" "$(seq 201 2500 | md5sum)"
    is "$(bindctl events --since start -F '{seq}' | md5sum)" "$(seq 1 2500 | md5sum)"
    is "$(bindctl history cells/n -n 100 -r | md5sum)" "$(seq 2401 2500 | md5sum)"
}

@test "history shows the values of a source with their versions" {
    bindctl set cells/a 1
    bindctl set cells/b 0
    bindctl set cells/a '"x"'
    bindctl remove cells/a
    is "$(bindctl history cells/a | cut -f 1,3,4)" $'1\t1\t1\n3\t2\t"x"\n4\t3\t(gone)'
    is "$(bindctl history cells/a -n 1 -j | jq -c 'del(.time)')" \
        '{"source":"cells/a","kind":"state","seq":4,"gone":true,"version":3}'
    is "$(bindctl history cells/a --since 2 -r; echo end)" $'x\n\nend'
    refuses 4 "'cells/c' has no history" history cells/c
    refuses 2 "--count must be at least 1; see 'bindctl help history'" history cells/a -n 0
    refuses 5 "'system/load' is not journaled: it has no history" history system/load
    refuses 2 "history takes one source, not the pattern 'cells/*'; use 'bindctl at' for a pattern; see 'bindctl help history'" history 'cells/*'
    refuses 2 "use 'bindctl events' to see what has happened; see 'bindctl help history'" history events
    refuses 2 "'cells/a >> 5' is not a condition; for example: 'a/b > 20'; see 'bindctl help is'" is 'cells/a >> 5'
    refuses 2 "'cells/a >' is not a condition; for example: 'a/b > 20'; see 'bindctl help wait'" wait 'cells/a >'
}

@test "services, describe, stats, errors and version say what there is" {
    is "$(bindctl services | grep -c '^\(cells\|daemon\|system\)'$'\t[A-Z]')" 3
    is "$(bindctl services -r)" "$(bindctl services | cut -f 1)"
    run bindctl describe cells
    [[ $output == *'  cells.add name=… [by:=…]  '* ]]
    [[ $output == *'  cells/**  A named JSON value.'* ]]
    run bindctl describe cells.add
    [[ $output == *'$ bindctl call cells.add name=… [by:=…]'* ]]
    is "$(bindctl describe cells.add -j | jq -r .method)" cells.add
    [[ $(bindctl describe system/load) == *'past  not kept'* ]]
    [[ $(bindctl describe) == *'  ping  '* ]]
    bindctl describe --names | grep -qx cells.toggle
    refuses 4 "nothing called 'cels'; did you mean 'cells'?" describe cels
    refuses 4 "nothing called 'cel'; did you mean 'cells'?" describe cel
    refuses 4 "nothing called 'nope'; 'bindctl services' lists the services" describe nope
    [[ $(bindctl describe bind) == *$'\n''transformers'*'  scale(number)  '*'reversible'* ]]
    [[ $(bindctl help transformers) == *'  round(integer)  '*'one way'* ]]
    is "$(bindctl help transformers -r | grep -cx celsius_to_fahrenheit)" 1
    [[ $(bindctl describe cells.compare_and_set) == *$'\n  name      string '* ]]
    bindctl stats | grep -Eq '^connections +1$'
    is "$(bindctl stats -F '{stats.last} {limits.depth}')" '0 64'
    bindctl stats --limits | grep -Eq '^batch +256$'
    is "$(timeout 60 bindctl stats --every 20ms 2> /dev/null | head -3 | cut -f 1,4 | sort -u)" $'1\t0'
    bindctl errors | grep -q $'^1001\tnot_found\tno\t'
    is "$(bindctl errors -j | jq -s length)" 28
    is "$(bindctl version | cut -d , -f 1)" $'bindctl 0.2.0\nbinderd 0.2.0'
    is "$(BINDER_SOCKET=/nowhere bindctl version)" 'bindctl 0.2.0'
    for words in --version -V 'get --version'; do
        # shellcheck disable=SC2086
        is "$(BINDER_SOCKET=/nowhere bindctl $words)" 'bindctl 0.2.0'
    done
}

@test "ping says who answers and how soon" {
    run bindctl ping
    [[ $output =~ ^"$BINDER_SOCKET answers in "[0-9]+' µs: binderd 0.2.0, journal at 0'$ ]]
    [[ $(bindctl ping -r) =~ ^[0-9]+$ ]]
    is "$(bindctl ping -j | jq .last)" 0
    start_false_daemon 'sleep 30'
    refuses 124 'the daemon did not answer in time; use -t TIME to wait longer' ping -t 100ms
}

@test "pipe passes lines in both directions, and ends when both are done" {
    is "$(printf '%s\n' '{"id":1,"method":"cells.set","params":["a",1]}' '{"id":2,"method":"get","params":["cells/a"]}' |
        bindctl pipe)" '{"jsonrpc":"2.0","id":1,"result":{"value":1,"seq":1,"version":1}}
{"jsonrpc":"2.0","id":2,"result":{"source":"cells/a","kind":"state","seq":1,"value":1}}'
    # More than the buffers between two programs that do not read.
    for i in {1..20000}; do echo '{"id":1,"method":"stats"}'; done > "$directory/in"
    is "$(timeout 60 bindctl pipe < "$directory/in" | wc -l)" 20000
    # A subscription continues after the end of stdin, until the reader is gone.
    is "$(echo '{"id":1,"method":"subscribe","params":{"source":"daemon/stats"}}' |
        timeout 60 bindctl pipe | head -3 | wc -l)" 3
}

@test "session gives a command a daemon of its own, and takes it away again" {
    run timeout 60 bindctl session -- sh -c 'bindctl set cells/x 1; bindctl get cells/x; echo "$BINDER_SOCKET"; exit 7'
    is "$status" 7
    is "${lines[0]}" 1
    [ ! -e "${lines[1]}" ]
    [ ! -e "${lines[1]%/*}" ]
    [ "${lines[1]}" != "$BINDER_SOCKET" ]
    run timeout 60 bindctl session -- sh -c 'kill -TERM $$'
    is "$status" 143
    run -127 --separate-stderr bindctl session no-such-program
    is "$stderr" "bindctl: 'no-such-program' cannot be run: No such file or directory"
    bindctl session --journal "$directory/kept.db" bindctl set cells/x 2
    is "$(bindctl session --journal "$directory/kept.db" bindctl get cells/x)" 2
    run --separate-stderr bindctl session --journal "$directory/journal.db" true
    is "$status" 3
    [[ $stderr == 'bindctl: the private daemon did not start: '*'in use'* ]]
    is "$(bindctl get 'cells/**')" ''
}

@test "times relative to the present are by the clock of the session" {
    is "$(timeout 60 bindctl session --clock '2036-11-20 08:00' -- sh -c '
        bindctl -q set cells/t 20; bindctl -q clock +2h; bindctl -q set cells/t 25; bindctl -q clock +1h
        bindctl at -2h cells/t; bindctl get --at -2h cells/t; bindctl history cells/t --since -90m | wc -l
        bindctl bind --try --since -150m "cells/t | above(22) ~> cells/hot" | grep -c true' 2> "$directory/err" \
        | grep -v '^clock' | tail -n 4)" $'cells/t\t20\n20\n1\n1'
}

@test "what a session sets is not caused by an event of the daemon around it" {
    run env BINDER_SEQ=1 timeout 60 bindctl session -- \
        sh -c 'bindctl set cells/other 1; bindctl set cells/x 2; bindctl why cells/x'
    [ "$status" -eq 0 ]
    [[ "$output" != *"cells/other"* ]]
}

@test "a session from another daemon has its state at a moment, and changes nothing there" {
    bindctl set cells/a 1
    bindctl set cells/a 2
    from() { timeout 60 bindctl session --from "$@"; }
    is "$(from "$BINDER_SOCKET" -- sh -c 'bindctl get cells/a; bindctl diff && echo same; bindctl set cells/a 3; bindctl diff || true')" \
        $'2\nsame\n- cells/a 2\n+ cells/a 3'
    is "$(bindctl get cells/a)" 2
    # The journal of a running daemon, at a position.
    is "$(from "$directory/journal.db" --at 1 -- sh -c 'bindctl get cells/a; bindctl diff --at 1 && echo same')" $'1\nsame'
    is "$(bindctl diff --with "$directory/journal.db" && echo same)" same
    # Its clock.
    from "$BINDER_SOCKET" --clock '2036-01-01 12:00' -- sh -c 'bindctl set cells/a 3; bindctl history cells/a' | grep -q '2036-01-01'
    # It is set while it runs: what is due then has run when the command returns, each time once.
    from "$BINDER_SOCKET" --clock '2036-01-01 12:30' -- sh -c '
        bindctl bind --daemon "every(\"12:00\") | constant(7) ~> cells/noon" > /dev/null
        bindctl bind --daemon "cells/a | delay(90m) ~> cells/late" > /dev/null
        bindctl set cells/a 5
        bindctl clock +1h > /dev/null; bindctl sync; bindctl get "cells/*"
        bindctl clock -r +71h | cut -c-8; bindctl sync; bindctl get "cells/*"
        bindctl history cells/noon | wc -l
        bindctl clock 2035-01-01; echo "exit $?"
        for speed in 1e-18 1e9; do
            bindctl call clock "speed:=$speed" 2>&1 | grep -o "a number from.*100000"
        done
        bindctl clock 9999-12-31 2>&1 | grep -o "a time before the year 9000"
        bindctl clock --speed 1000 -F "{speed}"' > "$directory/session" 2>&1
    is "$(cat "$directory/session")" \
        $'cells/a\t5\n2036-01-\ncells/a\t5\ncells/late\t5\ncells/noon\t7\n1\n'\
"$(grep 'goes only forward' "$directory/session")"$'\nexit 5\na number from 0.001 to 100000\na number from 0.001 to 100000\na time before the year 9000\n1000'
    # What is no origin, or no moment of it.
    fails() { # status text argument...
        run --separate-stderr timeout 60 bindctl "${@:3}"
        is "$status" "$1"
        [[ $stderr == *"$2"* ]]
    }
    fails 1 "no journal at $directory/none" session --from "$directory/none" -- true
    fails 1 'the journal holds positions 1 to 2' session --from "$BINDER_SOCKET" --at 99 -- true
    fails 1 'has no events that are so old' session --from "$BINDER_SOCKET" --at 2020-01-01 -- true
    fails 3 '--clock takes a later one' session --from "$BINDER_SOCKET" --clock 2020-01-01 -- true
    fails 2 "--speed takes a number from 0.001 to 100000, not 'fast'" session --speed fast -- true
    fails 5 'this daemon has the clock of the machine' clock +1h
    fails 2 "'soon' is not a time" clock soon
    fails 2 '--at is for --from' session --at 1 -- true
    fails 2 'either --from or --journal' session --from x --journal y -- true
    fails 2 'missing option --with' diff
    echo text > "$directory/text"
    fails 1 'is not a journal' session --from "$directory/text" -- true
}

@test "a session takes the configuration of a file, with the files beside it" {
    mkdir -p "$directory/own/bind.d" "$directory/own/types.d"
    echo '{}' > "$directory/own/binder.conf"
    echo 'warm: cells/a | offset(1) ~> cells/b' > "$directory/own/bind.d/a.bind"
    echo 'cells/a: number, 0…10' > "$directory/own/types.d/a.types"
    run -0 timeout 60 bindctl session --config "$directory/own/binder.conf" -- sh -c '
        bindctl set --settle cells/a 3; bindctl set cells/a 11; echo "exit $?"'
    is "$output" "cells/b 4  (cells/a | offset(1) ~> cells/b)
bindctl: 'cells/a' takes a number from 0 to 10, says $directory/own/types.d/a.types:1
exit 5"
    # Of a branch too; without it the session says what it does not have.
    kill_daemon
    start_daemon --config "$directory/own/binder.conf"
    bindctl set cells/a 1
    run -0 --separate-stderr timeout 60 bindctl session --from "$BINDER_SOCKET" -- bindctl bindings
    is "$stderr" 'bindctl: the session does not have what files of its origin declare: bindings: 1, types: 1; see --config'
    run -0 --separate-stderr timeout 60 bindctl session --from "$BINDER_SOCKET" --config "$directory/own/binder.conf" -- \
        sh -c 'bindctl set --settle cells/a 4; bindctl get cells/b'
    is "$stderr" ''
    is "$output" $'cells/b 5  (cells/a | offset(1) ~> cells/b)\n5'
    is "$(bindctl get cells/b)" 2
    # A file that is wrong, and one that is not there.
    echo 'warm: cells/a | offse(1) ~> cells/b' > "$directory/own/bind.d/a.bind"
    run timeout 60 bindctl session --config "$directory/own/binder.conf" -- true
    [ "$status" -ne 0 ]
    [[ "$output" == *"$directory/own/bind.d/a.bind:1:17: unknown transformer 'offse'"* ]]
    run timeout 60 bindctl session --config "$directory/none.conf" -- true
    [ "$status" -ne 0 ]
    [[ "$output" == *"$directory/none.conf"* ]]
}

@test "the clock of a session begins no earlier than the last event of its journal" {
    bindctl session --journal "$directory/ahead.db" --clock 2099-01-01T00:00:00Z -- bindctl set cells/a 1
    run -0 bindctl session --from "$directory/ahead.db" -- sh -c 'bindctl clock; bindctl set cells/b 2; bindctl history cells/b -j'
    [[ "${lines[0]}" == 2099-01-01* ]] || [[ "${lines[0]}" == 2098-12-31* ]]
    [[ "$output" == *'"time":"2099-01-01T00:00:'* ]]
}

@test "session ends its daemon when it is ended itself" {
    beside bindctl session -- sh -c 'echo "$BINDER_SOCKET"; exec sleep 60'
    session=${background[-1]}
    eventually grep -q . "$directory/out"
    socket=$(cat "$directory/out")
    kill -TERM "$session"
    status=0
    wait "$session" || status=$?
    is "$status" 143
    [ ! -e "${socket%/*}" ]
}

@test "what a session has left in the background ends with it" {
    run timeout 60 bindctl session -- sh -c "
        (bindctl watch cells/x; echo \$? >'$directory/watch') >/dev/null 2>'$directory/err' 3>&- &
        (bindctl work jobs true; echo \$? >'$directory/work') >/dev/null 2>&1 3>&- &
        until [ \"\$(bindctl stats -F '{stats.subscriptions}')\" = 2 ]; do sleep .05; done"
    is "$status" 0
    eventually grep -qx 6 "$directory/watch"
    eventually grep -qx 6 "$directory/work"
    grep -q 'the session has ended' "$directory/err"
}

@test "journal info asks the daemon, or reads a file" {
    bindctl set cells/a 1
    run bindctl journal info
    is "$status" 0
    [[ $output == "$directory/journal.db: epoch "*$'\n1 events, 1 to 1, of 1 streams\n'* ]]
    is "$(bindctl journal info -j | jq -c '{first,last,count,types}')" \
        '{"first":1,"last":1,"count":1,"types":{"cells.set":1}}'
    is "$(bindctl journal info --file "$directory/journal.db" -j | jq -c '{first,last,count,types}')" \
        '{"first":1,"last":1,"count":1,"types":{"cells.set":1}}'
}

@test "journal sql reads the newest events at once, and changes nothing" {
    bindctl set cells/a 1
    is "$(bindctl journal sql 'SELECT seq, stream, data, command FROM event')" '1|cells/a|{"value":1}|'
    bindctl set cells/a 2
    is "$(bindctl journal sql 'SELECT count(*), max(seq) FROM event' --file "$directory/journal.db")" '2|2'
    for statement in 'DELETE FROM event' 'BEGIN' 'SELECT * FROM nothing' "ATTACH '$directory/new.db' AS x"; do
        run --separate-stderr bindctl journal sql "$statement"
        is "$status" 1
        [[ $stderr == "binderd: $directory/journal.db: "* ]]
    done
    [ ! -e "$directory/new.db" ]
    run --separate-stderr bindctl journal sql
    is "$status" 2
}

@test "journal verify reads every event, beside a daemon and without one" {
    bindctl set cells/a 1
    run bindctl journal verify
    is "$status" 0
    [[ $output == *'1 of 1 events read back' ]]
    kill_daemon
    run bindctl journal verify --file "$directory/journal.db"
    is "$status" 0
    [[ $output == *'1 of 1 events read back' ]]
    run --separate-stderr bindctl journal verify --file /nowhere
    is "$status" 1
    is "$stderr" 'binderd: no journal at /nowhere'
    run --separate-stderr bindctl journal verfy
    is "$status" 2
    [[ $stderr == "bindctl: unknown WORK 'verfy' ("*"): did you mean 'verify'? See 'bindctl help journal'" ]]
    refuses 2 "missing argument FILE; see 'bindctl help journal'" journal backup
}

@test "a restored backup has its own epoch, and old cursors are refused" {
    bindctl set cells/a 1
    bindctl set cells/b '"two"'
    epoch=$(bindctl journal info -j | jq -r .epoch)
    run --separate-stderr bindctl journal backup "$directory/copy.db"
    is "$status" 0
    is "$output" "$directory/copy.db: epoch $epoch, 2 events, 1 to 2, of $directory/journal.db"
    run --separate-stderr bindctl journal backup "$directory/copy.db"
    is "$status" 1
    [[ $stderr == *'exists; use --force to replace it' ]]
    bindctl set cells/a 3
    # A running daemon keeps its journal.
    run --separate-stderr bindctl journal restore "$directory/copy.db" --force
    is "$status" 1
    is "$stderr" "binderd: $directory/journal.db is in use by pid $daemon; stop it first: kill $daemon"
    kill_daemon
    run --separate-stderr bindctl journal restore "$directory/copy.db" --file "$directory/journal.db"
    is "$status" 1
    bindctl journal restore "$directory/copy.db" --file "$directory/journal.db" --force
    start_daemon
    is "$(bindctl get cells/a)" 1
    is "$(bindctl get cells/b)" '"two"'
    [ "$(bindctl journal info -j | jq -r .epoch)" != "$epoch" ]
    answer=$(echo '{"id":1,"method":"subscribe","params":{"source":"events","from":{"after":1},"epoch":"'"$epoch"'"}}' |
        socat - "UNIX-CONNECT:$BINDER_SOCKET")
    is "$(jq -r .error.data.name <<< "$answer")" epoch_mismatch
    is "$(bindctl journal info --file "$directory/journal.db.old" -j | jq .last)" 3
}

@test "what is exported is imported again, and a wrong line makes nothing" {
    bindctl set cells/a '{"deep":[1,2.50,null,"ü"]}'
    bindctl call cells.set name=b value:=2 --cmd c-1
    bindctl journal export > "$directory/all.jsonl"
    is "$(wc -l < "$directory/all.jsonl")" 4
    is "$(jq -c 'select(.seq==2)|[.stream,.cmd,.meta.method,.data]' "$directory/all.jsonl")" \
        '["cells/b","c-1","cells.set",{"value":2}]'
    kill_daemon
    sed '3s/"previous":0/"previous":1/' "$directory/all.jsonl" > "$directory/wrong.jsonl"
    run --separate-stderr bindctl journal import "$directory/wrong.jsonl" --file "$directory/new.db"
    is "$status" 1
    is "$stderr" "binderd: $directory/wrong.jsonl: line 3: 'version' or 'previous' does not follow the event before in its stream"
    [ ! -e "$directory/new.db" ]
    head -c 200 "$directory/all.jsonl" > "$directory/cut.jsonl"
    run --separate-stderr bindctl journal import "$directory/cut.jsonl" --file "$directory/new.db"
    is "$status" 1
    [[ $stderr == "binderd: $directory/cut.jsonl: line 2: not JSON"* ]]
    [ ! -e "$directory/new.db" ]
    bindctl journal import "$directory/all.jsonl" --file "$directory/new.db"
    bindctl journal export --file "$directory/new.db" > "$directory/again.jsonl"
    is "$(tail -n +2 "$directory/again.jsonl")" "$(tail -n +2 "$directory/all.jsonl")"
    is "$(bindctl session --journal "$directory/new.db" bindctl get cells/a)" '{"deep":[1,2.50,null,"ü"]}'
}

@test "a compacted journal is exported and imported with the values that stand for what is gone" {
    for i in 1 2 3 4 5; do bindctl set cells/n "$i"; done
    bindctl set cells/kept 1
    is "$(bindctl journal compact --before 6)" '5 events removed; the first is 6'
    is "$(bindctl journal compact --before 6 -r)" 0
    bindctl journal export > "$directory/all.jsonl"
    kill_daemon
    bindctl journal import "$directory/all.jsonl" --file "$directory/new.db"
    is "$(bindctl session --journal "$directory/new.db" bindctl get cells/n)" 5
    run --separate-stderr bindctl journal compact --file "$directory/new.db" --before 70
    is "$status" 1
    [[ $stderr == *'position 70 is beyond the end of the journal ('*')' ]]
    bindctl journal compact --file "$directory/new.db" --before 7
    is "$(bindctl session --journal "$directory/new.db" bindctl get cells/n)" 5
    run --separate-stderr bindctl journal verify --file "$directory/new.db" --progress json
    is "$status" 0
    [[ $stderr == '{"work":"verify","done":'* ]]
}

@test "at shows the values of then, and what is different since" {
    bindctl set cells/a 1
    bindctl set cells/b 2
    bindctl call lists.append name=l value:=1 > /dev/null
    bindctl set cells/a 3
    bindctl remove cells/b
    gives 0 $'cells/a\t1\ncells/b\t2' at 2
    gives 0 $'cells/a\t1' at 2 cells/a
    gives 0 $'lists/l\t[1]' at 3 'lists/*'
    gives 0 '{"source":"cells/a","seq":1,"value":1}' at 1 -j
    gives 1 $'~ cells/a 1 -> 3\n- cells/b 2\n+ lists/l [1]' at 2 --diff
    gives 1 $'- cells/b 2' at 4 --diff 5
    gives 1 $'+ cells/b 2' at 1 --diff 2 'cells/*'
    gives 0 '' at 2 --diff 3 'cells/*'
    gives 1 '{"source":"cells/b","before":2}' at 4 --diff 5 -j
    who=$(id -un)' bindctl\[[0-9]+\]'
    [[ $(bindctl at 1 --diff 2 'cells/*' --who) =~ ^"+ cells/b 2  ("$who" set)"$ ]]
    [[ $(bindctl history cells/b -n 1 --who) =~ $'\t'$who" cells.remove"$'\t'"(gone)"$ ]]
    [[ $(bindctl events 'lists/*' -n 1 --who) =~ "lists/l"$'\t'$who" lists.append"$'\t' ]]
    is "$(bindctl events -n 1 --who -F '{event.who.program}')" bindctl
    gives 0 $'cells/a\t1\ncells/b\t2' get 'cells/*' --at 2
    bindctl journal compact --before 4 > /dev/null
    run --separate-stderr bindctl at 2
    is "$status" 1
    is "$stderr" 'bindctl: the journal holds positions 4 to 6'
}

@test "without a daemon everything that was tried is named, and the next step" {
    kill_daemon
    refuses 3 "no daemon answers: tried $BINDER_SOCKET (\$BINDER_SOCKET: Connection refused); start one with: binderd --socket $BINDER_SOCKET" \
        get cells/a
    refuses 3 "no daemon answers: tried /nowhere (--socket: No such file or directory); start one with: binderd --socket /nowhere" \
        watch cells/a --socket /nowhere
    unset BINDER_SOCKET
    run --separate-stderr env "XDG_RUNTIME_DIR=$directory" bindctl ping
    is "$status" 3
    [[ $stderr == "bindctl: no daemon answers: tried $directory/binder/bus.sock (\$XDG_RUNTIME_DIR: No such file or directory), /run/binder/bus.sock (of the system: "*"); start one with: binderd --socket $directory/binder/bus.sock" || -e /run/systemd/system ]]
}

@test "-n reaches the daemon of a name, before the variables, and passes it on" {
    # Under the name of another daemon, which has the socket of this one.
    mkdir "$directory/choresd"
    ln -s "$BINDER_SOCKET" "$directory/choresd/bus.sock"
    bindctl set cells/lamp true
    export XDG_RUNTIME_DIR=$directory
    is "$(BINDER_SOCKET=/nowhere bindctl -n choresd get -r cells/lamp)" true
    is "$(BINDER_SOCKET=/nowhere bindctl get -r -n choresd cells/lamp)" true
    is "$(BINDER_SOCKET='' BINDER_NAME=choresd bindctl get -r cells/lamp)" true
    is "$(BINDER_NAME=nobody bindctl get -r cells/lamp)" true
    is "$(BINDER_SOCKET=/nowhere bindctl -n choresd lock backup -- bindctl get -r cells/lamp)" true
    is "$(BINDER_SOCKET=/nowhere bindctl -n choresd lock backup -- sh -c 'echo "$BINDER_NAME+$BINDER_SOCKET"')" choresd+
    is "$(BINDER_SOCKET=/nowhere bindctl completions --line 'bindctl -n choresd get cells/la')" cells/lamp
    [[ $(bindctl completions --line 'bindctl -n ch') == choresd$'\t'*/choresd/bus.sock ]]
    is "$(bindctl -n choresd history -n 1 -F '{value}' cells/lamp)" true

    # What a message advises can be typed.
    refuses 4 "no source 'cells/nothing'; 'bindctl -n choresd get \"cells/**\"' lists those that exist" \
        -n choresd get cells/nothing
    refuses 4 "no method 'ping.pong'; 'bindctl -n choresd services' lists the services" -n choresd call ping.pong

    run --separate-stderr bindctl -n nobodyd ping
    is "$status" 3
    [[ $stderr == *"tried $directory/nobodyd/bus.sock"*", /run/nobodyd/bus.sock"*"; start one with: nobodyd --socket $directory/nobodyd/bus.sock" ]]
    rule="1 to 31 small letters, digits, '-' and '_', beginning with a letter, such as choresd; see 'bindctl help'"
    for name in '' a/b .. Chores 'a b' -x; do
        refuses 2 "-n takes the name of a daemon, not '$name': $rule" -n "$name" ping
    done
    run --separate-stderr env BINDER_SOCKET= BINDER_NAME=../x bindctl ping
    is "$status" 2
    is "$stderr" "bindctl: \$BINDER_NAME takes the name of a daemon, not '../x': $rule"
    run --separate-stderr binder-web -n a/b
    is "$status" 64
    [[ $stderr == *"-n takes the name of a daemon, not 'a/b': "* ]]
}

@test "a connection that is lost within a request ends with 6" {
    cat > "$directory/false" <<'END'
read -r line
echo '{"id":1,"result":{"server":{"name":"b","version":"1"},"epoch":"e","first":1,"last":0}}'
read -r line
END
    start_false_daemon "sh $directory/false"
    refuses 6 'the connection to the daemon was lost; the request may have been run; check before you repeat it' \
        set cells/a 1
    refuses 6 'the connection to the daemon was lost' get cells/a
}

@test "a daemon that never stops talking, and does not answer, is given up" {
    cat > "$directory/false" <<'END'
read -r line
echo '{"id":1,"result":{"server":{"name":"b","version":"1"},"epoch":"e","first":1,"last":0}}'
read -r line
echo "$line" > "$1"
yes '{"jsonrpc":"2.0","method":"next","params":{"sub":1,"seq":1,"value":1}}'
END
    start_false_daemon "sh $directory/false $directory/asked"
    # Takes a longer time if the shorter one was over before the request was sent.
    gives_up() { # sentence argument...
        local time
        for time in 300ms 3s 30s; do
            : > "$directory/asked"
            run --separate-stderr bindctl "${@:2}" -t "$time"
            [ ! -s "$directory/asked" ] || break
        done
        is "$status" 124
        is "$stderr" "bindctl: the daemon did not answer in time; $1"
        is "$output" ''
    }
    gives_up 'use -t TIME to wait longer' get cells/a
    gives_up 'the request may have been run; use -t TIME to wait longer' set cells/a 1
}

@test "an answer is read however large it is" {
    for i in {1..5000}; do echo "{\"id\":1,\"method\":\"cells.set\",\"params\":[\"n$i\",$i]}"; done |
        bindctl pipe | tail -1
    is "$(bindctl get 'cells/**' | wc -l)" 5000
    is "$(bindctl get 'cells/**' -j | jq -s 'map(.value) | add')" 12502500
    is "$(bindctl at 4999 --diff | cut -d ' ' -f 1-2)" '+ cells/n5000'
    seq 5000 | jq -c -n '[inputs | {key: "k\(.)", value: .}] | from_entries' > "$directory/map"
    bindctl set cells/object "@$directory/map" && return 1
    for i in {1..5000}; do echo "{\"id\":1,\"method\":\"maps.put\",\"params\":[\"m\",\"k$i\",$i]}"; done |
        bindctl pipe | tail -1
    is "$(bindctl get maps/m | jq -c 'add')" 12502500
    is "$(bindctl history maps/m -n 1 -j | jq '.value | length')" 5000
    beside bindctl watch maps/m -r -n 1
    eventually grep -q k5000 "$directory/out"
    bindctl call maps.put name=m key=k1 value:=0
    wait "${background[-1]}"
    is "$(tail -1 "$directory/out" | jq add)" 12502499
}

@test "what is no daemon is not understood" {
    start_false_daemon 'read line; echo HTTP/1.1 400 Bad Request'
    refuses 1 "cannot understand the daemon's answer: a line that is not JSON" get cells/a
}

@test "a wrong command line is refused with one guess" {
    refuses 2 "unknown command 'xyzzy'; see 'bindctl help'" xyzzy
    refuses 2 "unknown command 'wacth': did you mean 'watch'? See 'bindctl help'" wacth
    refuses 2 "unknown command 'wath': did you mean 'watch'? See 'bindctl help'" wath
    refuses 2 "unknown option '--chnage': did you mean '--change'? See 'bindctl help wait'" wait a --chnage
    refuses 2 "missing argument VALUE; see 'bindctl help set'" set cells/a
    refuses 2 "the format '{seq' has a '{' without its '}'; a brace is '{{'; see 'bindctl help'" get a -F '{seq'
}

@test "an output that cannot be written is no success" {
    bindctl set cells/a 1
    status=0
    bindctl get cells/a > /dev/full 2> "$directory/err" || status=$?
    is "$status" 1
    is "$(cat "$directory/err")" 'bindctl: the output cannot be written: No space left on device'
}

@test "help says what each command takes, on stdout" {
    run --separate-stderr bindctl help
    is "$status" 0
    is "$stderr" ''
    for command in get set remove is wait call watch events history at plot board tree services describe stats top web \
        ps kick ping whoami pipe shell session \
        journal version completions help; do
        grep -Eq "^  $command +[A-Z]" <<< "$output"
        is "$(bindctl help "$command")" "$(bindctl "$command" --help)"
        [[ $(bindctl help "$command") == "usage: bindctl $command"* ]]
        [ "$(bindctl help "$command" | wc -L)" -le 80 ]
    done
    for topic in values when forms exit socket; do
        grep -Eq "^  $topic +[a-z]" <<< "$output"
        [ "$(bindctl help "$topic" | wc -l)" -gt 2 ]
        [ "$(bindctl help "$topic" | wc -L)" -le 80 ]
    done
    refuses 2 "no help on 'wath': did you mean 'watch'? See 'bindctl help'" help wath
    is "$(bindctl help journal backup)" "$(bindctl help journal)"
    is "$(bindctl help acl check)" "$(bindctl help acl)"
    refuses 2 "no help on 'journal bakcup'; see 'bindctl help'" help journal bakcup
}

@test "completions know commands, options and what the daemon has" {
    bindctl set cells/lamp 1
    cat > "$directory/complete" <<'END'
source <(bindctl completions bash)
# As bash splits a line.
COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
read -ra COMP_WORDS <<< "$(sed 's/:=/ := /g; t; s/=/ = /g' <<< "$COMP_LINE")"
[[ -n ${@: -1} ]] || COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_bindctl
echo "${COMPREPLY[@]}"
END
    complete() { bash "$directory/complete" bindctl "$@"; }
    # A question to the daemon has a second, in which it may not be answered on a busy machine.
    offers() { [ "$(complete "${@:2}")" = "$1" ]; }
    completes() { eventually offers "$@"; } # words argument...
    completes 'wait watch' wa
    completes help --socket "$BINDER_SOCKET" he
    completes cells/lamp get ce
    completes cells.toggle call cells.t
    completes '--if --if-version' set --if
    for command in set call atomic; do completes --settle $command --se; done
    completes 'backup compact copy export import info init restore sql verify' journal ''
    completes cells/lamp -t 5s get ce
    completes cells/lamp -F x get ce
    completes '' set cells/lamp ''
    completes '' get cells/lamp --at ''
    completes 'by:= name=' call cells.add ''
    completes by:= call cells.add name=lamp b
    completes name= call cells.add by:=1 na
    completes name= open cell ''
    completes cells/lamp describe cells/
    completes 'always auto' --color a
    bindctl bind --daemon --name warm 'cells/a ~> cells/b'
    bindctl set locks/none 1 2> /dev/null || bindctl call locks.acquire name=backup ttl_ms:=60000 > /dev/null
    bindctl publish door/open true
    completes warm unbind ''
    completes backup lock ''
    completes cells tree ce
    completes door/open publish ''
    completes cells/lamp bind cells/l
    BINDER_SOCKET=/nowhere completes cells/lamp --socket "$BINDER_SOCKET" get ce
    completes '' --socket /nowhere get ce
    bindctl completions --line 'bindctl wai' | grep -q $'^wait\tWaits'
    completes fish completions f
    completes board bo
    completes cells/lamp plot ce
    completes people open peo
    complete kick '' | grep -qE '^[0-9]+( [0-9]+)*$'
    completes exit help ex
    if command -v zsh; then bindctl completions zsh | zsh -n; fi
    if command -v fish; then
        bindctl completions fish > "$directory/fish"
        fish -n "$directory/fish"
        is "$(fish -c "source $directory/fish; complete -C 'bindctl wai'" | cut -f 1)" wait
        is "$(fish -c "source $directory/fish; complete -C 'bindctl get cells/'" | cut -f 1)" cells/lamp
        is "$(fish -c "source $directory/fish; complete -C 'bindctl atomic --se'" | cut -f 1)" --settle
    fi
}

# Prints the contents of a terminal of 100 columns.
screen() { tmux -S "$directory/tmux" capture-pane -p -t test "$@"; }
shows() { screen | grep -qE -e "$1"; }

# Starts a shell in a terminal that ends with the test.
start_terminal() {
    tmux -S "$directory/tmux" -f /dev/null new-session -d -s test -x 100 -y 30 "PS1='$ ' sh" 3>&-
    background+=("$(tmux -S "$directory/tmux" display-message -p '#{pid}')")
    eventually shows '^\$$'
}

# Presses Ctrl-C and waits for the next prompt.
interrupts() {
    tmux -S "$directory/tmux" send-keys -t test C-c
    eventually shows '^\$$'
}

types() { tmux -S "$directory/tmux" send-keys -t test "$1" Enter; }

# Succeeds if the text of a name was run as a command.
has_run() { compgen -G "$directory/run*"; }

@test "completions do not run what a daemon calls its sources" {
    cd "$directory"
    export directory
    cat > false <<'END'
read -r line
echo '{"id":1,"result":{"server":{"name":"b","version":"1"},"epoch":"e","first":1,"last":0}}'
read -r line
printf '%s\n' '{"id":2,"result":{"values":{"cells/$(touch $directory/run1)":1,"cells/`touch $directory/run2`":1,"cells/;touch${IFS}$directory/run3":1,"--format=x":1,"cells/a\ncells/b c":1,"cells/*":1,"cells/lamp":1}}}'
read -r line
END
    bindctl completions bash > bash
    bindctl completions zsh > zsh
    bindctl completions fish > fish
    start_false_daemon "sh $directory/false"
    cat > complete <<'END'
source ./bash
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
_bindctl
printf '%s\n' "${COMPREPLY[@]}"
END
    is "$(bash complete bindctl get '')" cells/lamp
    is "$(bash complete bindctl get cells/l)" cells/lamp
    run has_run
    is "$status" 1
    if command -v zsh > no; then
        cat > ask <<'END'
compdef() { }
_describe() { print -l -- ${(P)4}; }
words=(bindctl get '') CURRENT=3
source ./zsh
_bindctl
END
        is "$(zsh -f ask)" cells/lamp
        run has_run
        is "$status" 1
    fi
    if command -v fish > no; then
        is "$(fish -c 'source fish; complete -C "bindctl get cells/"' | cut -f 1 | sort)" cells/lamp
        run has_run
        is "$status" 1
    fi
}

@test "on a terminal watch shows values under each other, and Ctrl-C ends it by the signal" {
    bindctl set cells/lamp true
    bindctl set cells/long-name-of-a-cell '"x"'
    start_terminal
    types "bindctl watch 'cells/**'"
    eventually shows '^--- live after 2$'
    eventually shows '^cells/lamp {17}true$'
    eventually shows '^cells/long-name-of-a-cell  "x"$'
    bindctl set cells/lamp false
    eventually shows '^cells/lamp +false$'
    screen -e | grep -qF $'\e[36mfalse'
    interrupts
    types 'echo ended $?'
    eventually shows '^ended 130$'
    types 'trap "echo by signal" INT; bindctl events -f'
    eventually shows 'cells.set'
    interrupts
    eventually shows 'by signal$'
}

@test "on a terminal tables have headers and colours, NO_COLOR takes the colours away" {
    bindctl set cells/lamp true
    start_terminal
    types 'clear; bindctl history cells/lamp'
    eventually shows '^SEQ  TIME                     VERSION  VALUE$'
    eventually shows '^  1  20[0-9-]{8} [0-9:.]{12}        1  true$'
    screen -e | grep -qF $'\e[1mSEQ'
    types 'clear; NO_COLOR=1 bindctl services'
    eventually shows '^SERVICE'
    [[ $(screen -e) != *$'\e['* ]]
}

@test "on a terminal text of others is shown, and does not steer" {
    local evil=$'evil \xc2\x9b31m \xe2\x80\xae rtl \x7f\e[7m'
    bindctl set cells/evil -s "$evil"
    is "$(bindctl get -r cells/evil)" "$evil"
    start_terminal
    local shown='evil \\u009b31m \\u202e rtl \\u007f\\u001b\[7m'
    types 'clear; bindctl get cells/evil'
    eventually shows "^\"$shown\"$"
    screen -e | grep -qF $'\e[32m"evil'
    types 'clear; bindctl get -r cells/evil'
    eventually shows "^$shown$"
    types 'clear; bindctl history cells/evil'
    eventually shows "\"$shown\"$"
    types 'clear; bindctl "$(printf "x\033[7m")"'
    eventually shows '^bindctl: unknown command .x\\u001b\[7m'
    types $'clear; echo \'{"id":1,"method":"get","params":{"source":"cells/evil"}}\' | bindctl pipe'
    joined() { screen -J | grep -qE -e "$1"; }
    eventually joined "\"value\":\"$shown\""
}

@test "on a terminal the signal of a session reaches its command alone" {
    start_terminal
    types "bindctl session -- sh -c 'trap \"bindctl set cells/a 1; bindctl get cells/a; exit 5\" INT; echo ready; sleep 60'"
    eventually shows '^ready$'
    interrupts
    eventually shows '1$'
    types 'echo ended $?'
    eventually shows '^ended 5$'
}

@test "bind: values follow each other, for the daemon over a restart" {
    run --separate-stderr bindctl bind --daemon --name warm 'cells/c ~> cells/f | celsius_to_fahrenheit | round(1)'
    [ "$status" = 0 ]
    [ "$output" = 'binding warm' ]
    is "$stderr" 'bindctl: cells/c has no value yet'
    bindctl set cells/c 20
    bindctl wait cells/f 68 -t 60
    kill_daemon
    start_daemon
    bindctl set cells/c 21
    bindctl wait cells/f 69.8 -t 60
    run bindctl bindings -j
    [ "$(jq -r .expr <<<"$output")" = 'cells/c ~> cells/f | celsius_to_fahrenheit | round(1)' ]
    is "$(bindctl bindings | cut -f 1,2,4-)" $'warm\tcells/c ~> cells/f | celsius_to_fahrenheit | round(1)\t69.8\t\tok'
    run bindctl unbind warm
    [ "$status" = 0 ]
    run bindctl unbind warm
    [ "$status" = 1 ]
    run bindctl bind 'cells/c -> cells/f'
    [ "$status" = 5 ]
    [[ $output == *'at column 9'* ]]
}

@test "watch shows a list as its steps make it" {
    bindctl call lists.append name=todo value=milk > /dev/null
    beside bindctl watch lists/todo -n 3
    eventually grep -q live "$directory/out"
    bindctl call lists.append name=todo value=bread > /dev/null
    bindctl call lists.move name=todo from:=1 to:=0 > /dev/null
    bindctl call lists.remove name=todo at:=1 > /dev/null
    eventually has out $'lists/todo\t["bread"]'
    is "$(grep -v live "$directory/out" | cut -f2 | tr '\n' ' ')" \
        '["milk"] ["milk","bread"] ["bread","milk"] ["bread"] '
}

@test "views are listed; open in a pipe is lines of JSON both ways" {
    is "$(bindctl views | grep -e ^cell -e ^system)" \
        $'cell name=…\tOne cell, to view and change.\nsystem\tThe state of this machine.'
    run --separate-stderr bindctl open cell name=lamp <<<'{"intent":"toggle"}
{"intent":"add","args":{"by":1}}'
    is "$status" 0
    is "$(jq -r '.binder // .answer.value // .answer.error.data.reason // .next.props.value.value' \
        <<<"$output" | tr '\n' ' ')" 'cell true not_a_number true '
    refuses 4 "no view 'cel'; did you mean 'cell'?" open cel
    refuses 4 "no view 'nothing-like-it'; 'bindctl views' lists the views" open nothing-like-it
    refuses 5 "missing parameter 'name' (string); for example: bindctl open cell name=…" open cell
    refuses 5 "missing parameter 'name' (string); unknown parameter 'nam'; did you mean 'name'?" open cell nam=x
    refuses 4 "there is no person 9; 'bindctl get \"people/**\"' lists those that exist" open person id:=9
    run bindctl open cell name=lamp <<<'toggle'
    is "$status" 2
    has_line() { grep -q "$1" "$directory/out"; }
    mkfifo "$directory/in"
    beside sh -c 'exec bindctl open cell name=lamp < "$0"' "$directory/in"
    exec 9> "$directory/in"
    eventually has_line '"binder":"cell"'
    bindctl set cells/lamp 7
    eventually has_line '{"next":{"view":1,"seq":2,"props":{"value":{"value":7}}}}'
    echo '{"close":1}' >&9
    eventually has_line '{"answer":{"close":1,"view":1,"closed":\[1\]}}'
    exec 9>&-
}

@test "on a terminal open shows a view, keys ask its intents, and the terminal comes back" {
    bindctl set cells/lamp '"warm"'
    start_terminal
    types 'bindctl open cell name=lamp'
    eventually shows '^value  warm$'
    eventually shows '^enter set…   t toggle   a add…   r remove   q quit   [?] keys$'
    bindctl set cells/lamp true
    eventually shows '^value  true$'
    tmux -S "$directory/tmux" send-keys -t test t
    eventually shows '^value  false$'
    tmux -S "$directory/tmux" send-keys -t test Enter
    eventually shows '^> value  false'
    tmux -S "$directory/tmux" send-keys -t test C-u '21' Enter
    eventually shows '^value  21$'
    tmux -S "$directory/tmux" send-keys -t test t
    eventually shows 'is neither true nor false'
    tmux -S "$directory/tmux" resize-window -t test -x 40 -y 8
    eventually shows '^enter set…   t toggle   a add…$'
    eventually shows '^r remove   q quit   [?] keys$'
    for size in 1:1 5:2 20:5 200:60 100:30; do
        tmux -S "$directory/tmux" resize-window -t test -x "${size%:*}" -y "${size#*:}"
        [ "$size" = 1:1 ] || eventually shows '^.?cell'
    done
    tmux -S "$directory/tmux" send-keys -t test q
    eventually shows '^\$ *$'
    types 'stty -a | grep -o " echo "; echo ended $?'
    eventually shows '^ended 0$'
    types 'bindctl open cell name=lamp'
    eventually shows '^value  21$'
    for signal in TERM HUP INT QUIT SEGV; do
        kill -"$signal" "$(viewer)"
        comes_back "$signal"
        types 'clear; bindctl open cell name=lamp'
        eventually shows '^value  21$'
    done
    for signal in key TSTP; do
        if [ "$signal" = key ]; then
            tmux -S "$directory/tmux" send-keys -t test C-z
        else
            kill -"$signal" "$(viewer)"
        fi
        eventually stopped
        comes_back "$signal"
        types 'clear; bg; sleep .1; fg'
        eventually shows '^value  21$'
        eventually shows '^cell$'
        tmux -S "$directory/tmux" send-keys -t test s Escape # reads keys as before
        eventually shows 'q quit   [?] keys$'
    done
    tmux -S "$directory/tmux" send-keys -t test C-c
    comes_back C-c
}

stopped() { grep -q '^State:.T' "/proc/$(viewer)/status"; }

# Prints the id of the process that shows a view in the terminal.
viewer() { pgrep -P "$(tmux -S "$directory/tmux" display-message -p '#{pane_pid}')" bindctl; }

# Waits until the shell has its terminal back: with echo, cursor and the previous screen.
comes_back() { # word
    eventually shows '^\$$'
    types "stty -a | grep -o ' echo '; stty -a | grep -o ' icanon '; echo $1 back \$?"
    eventually shows "^$1 back 0$"
    is "$(tmux -S "$directory/tmux" display-message -p '#{cursor_flag}#{alternate_on}#{wrap_flag}')" 101
}

@test "on a terminal open goes on when the daemon is restarted, and ends as its terminal does" {
    bindctl set cells/lamp '"warm"'
    start_terminal
    types 'bindctl open cell name=lamp'
    eventually shows '^value  warm$'
    tmux -S "$directory/tmux" send-keys -t test Enter C-u
    tmux -S "$directory/tmux" send-keys -t test '21'
    eventually shows '^> value  21'
    kill_daemon
    eventually shows '^the connection is lost; waiting for the daemon$'
    eventually shows '^value  warm$'
    start_daemon
    lost() { shows 'the connection is lost'; }
    eventually not lost
    tmux -S "$directory/tmux" send-keys -t test Enter
    eventually shows '^value  21$'
    kill_daemon
    eventually lost
    tmux -S "$directory/tmux" send-keys -t test q
    comes_back q
    start_daemon
    types 'clear; bindctl open cell name=lamp --no-reconnect; echo ended $?'
    eventually shows '^value  21$'
    kill_daemon
    eventually shows '^ended 6$'
    eventually shows 'the connection to the daemon was lost'
    start_daemon
    types 'clear; bindctl open cell name=lamp'
    eventually shows '^value  21$'
    local pid
    pid=$(viewer)
    tmux -S "$directory/tmux" kill-server
    running() { kill -0 "$pid" 2> /dev/null; }
    eventually not running
}

@test "open in a pipe reports a lost daemon, and opens the view again" {
    has_line() { grep -q "$1" "$directory/out"; }
    mkfifo "$directory/in"
    beside sh -c 'exec bindctl open cell name=lamp < "$0"' "$directory/in"
    exec 9> "$directory/in"
    eventually has_line '"binder":"cell"'
    kill -TERM "$daemon"
    eventually has_line '^{"lost":{"reason":"shutdown"}}$'
    wait "$daemon" || true
    echo '{"intent":"set","args":{"value":3}}' >&9
    start_daemon
    eventually has_line '{"answer":{"intent":"set","value":3,"seq":1,"version":1}}'
    is "$(grep -c '"binder":"cell"' "$directory/out")" 2
    grep -q 'the daemon has closed the connection (shutdown); waiting for it' "$directory/err"
    exec 9>&-
    beside sh -c 'exec bindctl open cell name=lamp --no-reconnect < "$0"' "$directory/in"
    exec 9> "$directory/in"
    eventually has_line '"binder":"cell"'
    kill_daemon
    local status=0
    wait "${background[-1]}" || status=$?
    is "$status" 6
    exec 9>&-
}

@test "a *.bind file binds, and people and threads are called, looked at and bound" {
    kill_daemon
    mkdir "$directory/bind.d"
    echo 'shout: people/1/name ~> cells/shout | uppercase' > "$directory/bind.d/home.bind"
    start_daemon --bind-dir "$directory/bind.d"
    is "$(bindctl bindings)" \
        $'shout\tpeople/1/name ~> cells/shout | uppercase\tnever\t\t'"$directory/bind.d/home.bind:1"$'\tno value yet: people/1/name'
    bindctl call people.create name=Kim > /dev/null
    bindctl wait cells/shout '"KIM"' -t 60
    refuses 5 "binding 'shout' is declared in $directory/bind.d/home.bind:1: remove it there and reload" \
        unbind shout
    bindctl call threads.start name=Tea > /dev/null
    is "$(bindctl call threads.post thread:=1 body=Green)" 1
    beside bindctl watch threads/1/posts -n 2
    eventually grep -q live "$directory/out"
    is "$(bindctl call threads.like thread:=1 post:=1)" 1
    eventually grep -q '"likes":1' "$directory/out"
}
