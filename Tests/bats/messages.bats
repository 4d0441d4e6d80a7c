# The sentences with which bindctl refuses: what is wrong, where, and what to type.

load support

setup() {
    make_place
    start_daemon
    bindctl set cells/lamp true
}

teardown() { remove_place; }

refuses() { # status sentence argument...
    run --separate-stderr bindctl "${@:3}"
    is "$status" "$1"
    is "$stderr" "bindctl: $2"
    is "$output" ''
}

@test "a missing or unknown parameter is named" {
    refuses 5 "missing parameter 'name' (string); for example: bindctl call cells.toggle name=…" call cells.toggle
    refuses 5 "missing parameter 'value'; for example: bindctl call cells.set name=… value:=…" call cells.set name=a
    refuses 5 "missing parameter 'name' (string); for example: bindctl open cell name=…" open cell
    refuses 5 "missing parameter 'name' (string); unknown parameter 'nam'; did you mean 'name'?" open cell nam=x
    refuses 5 "unknown parameter 'nam'" open cell name=x nam=x
    refuses 2 "missing argument check; see 'bindctl help acl'" acl
    refuses 2 "missing argument USER; see 'bindctl help acl'" acl check
}

@test "a name that is none says why" {
    refuses 5 "'/cells/lamp' is not a source name: it begins with '/'" get /cells/lamp
    refuses 5 "'cells/' is not a source name: it ends with '/'" get cells/
    refuses 5 "'cells//lamp' is not a source name: it has nothing between two '/'" watch cells//lamp
    refuses 5 "'**/lamp' is not a source name: '**' is only at the end" get '**/lamp'
    refuses 5 "'cells/l*' is not a source name: a '*' is a whole segment, and '**' the last one" get 'cells/l*'
    refuses 5 "'' is not a source name: it is empty" get ''
}

@test "what is not there is named, with what to type" {
    refuses 4 "no source 'cells/nope'; 'bindctl get \"cells/**\"' lists those that exist" plot cells/nope
    refuses 4 "nothing called 'cel'; did you mean 'cells'?" describe cel
    refuses 4 "there is no person 9; 'bindctl get \"people/**\"' lists those that exist" open person id:=9
    refuses 4 "there is no feed 'none'; 'bindctl get \"feeds/**\"' lists those that exist" open feed id=none
    refuses 4 "there is no person 9; 'bindctl get \"people/**\"' lists those that exist" call people.remove id:=9
}

@test "a past moment is named as it was typed" {
    refuses 1 'position 99999999 is beyond the end of the journal (1)' get cells/lamp --at 99999999
    refuses 1 'position 99999999 is beyond the end of the journal (1)' at 99999999
    refuses 1 'position 99999999 is beyond the end of the journal (1)' plot cells/lamp --since 99999999
    refuses 4 "'cells/lamp' had no value at yesterday; 'bindctl history cells/lamp' shows when it had one" \
        get cells/lamp --at yesterday
}

@test "a file is named as it was typed, and other words that are no choice" {
    refuses 1 'cannot write /no/x.prom: No such file or directory' metrics --textfile /no/x.prom
    refuses 2 "backup takes a file or a directory, not '-'; 'bindctl journal export' writes to stdout; see 'bindctl help journal'" \
        journal backup -
    [ ! -e - ]
    refuses 2 "--color takes always, never or auto, not 'foo'; see 'bindctl help'" --color=foo get cells/lamp
}

@test "a binding that cannot be is refused with 5" {
    refuses 4 "no source 'cells/*/b'; a binding has no pattern; list its sources, as in (cells/a, cells/b)" \
        bind --daemon '(cells/*/b) | avg ~> cells/mean'
    refuses 5 "'uppercase' is not reversible and cannot be used with <> at column 25" bind 'cells/a <> cells/lamp | uppercase'
    bindctl bind --daemon 'cells/a ~> cells/b'
    refuses 5 'the binding would close a cycle: cells/b → cells/a → cells/b' bind --daemon 'cells/b ~> cells/a'
}

@test "kick ends all connections that it can" {
    beside bindctl watch cells/lamp
    eventually has out $'cells/lamp\ttrue'
    id=$(bindctl ps -j | jq 'select(.subscriptions > 0) | .id' | head -n 1)
    run --separate-stderr bindctl kick 999 "$id" 998
    is "$status" 4
    is "$stderr" "$(printf "bindctl: there is no connection %s; 'bindctl ps' lists the connections\n" 999 998)"
    eventually grep -q "with 'bindctl kick'" "$directory/err"
}

@test "a wrong declaration of a method is named by its file, with a right one" {
    mkdir "$directory/methods"
    printf '#!/bin/sh\ncat\n' > "$directory/methods/stock.add.sh"
    chmod +x "$directory/methods/stock.add.sh"
    echo '{"doc":"Adds.","params":{"thing":{"type":"string"}}}' > "$directory/methods/stock.add.sh.json"
    run --separate-stderr timeout 60 bindctl serve --dir "$directory/methods"
    is "$status" 2
    [[ $stderr == "bindctl: $directory/methods/stock.add.sh.json: at /params/thing: expected "* ]]
    [[ $stderr == *'; write "params":{"type":"object","properties":{"thing":{"type":"string"}}}' ]]
}

@test "advice fits what was typed, and works" {
    refuses 2 "the argument 'by' is given twice; see 'bindctl help call'" call cells.add name=n by:=1 by:=2
    refuses 2 "the argument 'name' is given twice; see 'bindctl help open'" open cell name=a name:='"b"'
    run --separate-stderr bindctl watch cells/lamp -t 300ms
    is "$status $stderr" '124 bindctl: the time is over; use -t TIME to wait longer'
    refuses 4 "no source 'cells/a = 1'; did you mean 'cells/a == 1'?" is 'cells/a = 1'
    refuses 4 "no source 'cells/a = two words'; did you mean 'cells/a == two words'?" wait 'cells/a = two words'
    refuses 5 "source 'live/a' is not writable; 'bindctl publish' sets live values" set live/a 1
    refuses 2 "SOURCE has no 'live/' in front, as in a/b; see 'bindctl help publish'" publish live/a/b 1
    refuses 2 "SOURCE has no 'services/' in front, as in a; see 'bindctl help publish'" publish services/a 1 --keep
    refuses 2 "expected 'check', not 'a.view'; see 'bindctl help view'" view a.view
    is "$(bindctl help diff | grep -o '/run/.*sock')" /run/binder/bus.sock
    is "$(bindctl help session | grep -o '/run/.*sock')" /run/binder/bus.sock
    beside bindctl work shared -- true
    bindctl wait 'readers/shared exists' > /dev/null
    refuses 5 "reader 'shared' is shared: it needs share; 'bindctl work' acknowledges its events" ack shared 1
}

@test "an idempotency key for a direct call is refused, and says why" {
    beside bindctl serve lamp.blink=true
    bindctl wait 'providers/lamp exists' > /dev/null
    refuses 5 'no cmd, expect or lease: a direct call is not recorded' call lamp.blink --cmd a
}
