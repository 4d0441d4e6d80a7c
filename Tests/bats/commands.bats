# Options and commands for parts of values, programs that run for values, curves of one line, and units.

load support

setup() {
    make_place
    start_daemon
}

teardown() { remove_place; }

# Opens a terminal that shows what a command prints.
terminal() { # columns lines command
    tmux -S "$directory/tmux" -f /dev/null new-session -d -s look -x "$1" -y "$2" "$3" 3>&-
    background+=("$(tmux -S "$directory/tmux" display-message -p '#{pid}')")
}

screen() { tmux -S "$directory/tmux" capture-pane -p -t look "$@"; }
shows() { screen | grep -qE -e "$1"; } # pattern
keys() { tmux -S "$directory/tmux" send-keys -t look "$@"; }

@test "bindctl alone prints help, and open alone lists the views" {
    is "$(bindctl)" "$(bindctl help)"
    is "$(bindctl open)" "$(bindctl views)"
    is "$(bindctl open -r | head -n 1)" cell
}

@test "--pick takes a part of a value: get, is and wait" {
    bindctl set cells/w '{"wind":{"speed":5},"rain":false}'
    bindctl set cells/n 1
    is "$(bindctl get cells/w --pick /wind/speed)" 5
    is "$(bindctl get 'cells/**' --pick /rain)" $'cells/w\tfalse'
    is "$(bindctl get cells/w --at now --pick /rain -j | jq -c '[.source, .value]')" '["cells/w",false]'
    run --separate-stderr bindctl get cells/w --pick /none
    is "$status/$stderr" "4/bindctl: 'cells/w' has no '/none'"
    run --separate-stderr bindctl get cells/w --pick none
    is "$status/$stderr" "2/bindctl: --pick takes a path such as /wind/speed, not 'none'; see 'bindctl help get'"
    bindctl call lists.append name=jobs value=a
    is "$(bindctl get lists/jobs --pick /0 -r)" a
    bindctl is 'cells/w > 4' --pick /wind/speed
    run bindctl is cells/w 4 --pick /wind/speed
    is "$status" 1
    bindctl is 'cells/w !exists' --pick /snow
    is "$(bindctl wait 'cells/w exists' --pick /wind)" '{"speed":5}'
    subscribed='"sub":"t0","source":"cells/w","kind":"state"'
    before=$(grep -cF "$subscribed" "$BINDER_TRACE" || true)
    beside bindctl wait cells/w --change --pick /wind/speed
    traced "$subscribed" $((before + 1))
    bindctl set cells/w '{"wind":{"speed":5},"rain":true}'
    bindctl set cells/w '{"wind":{"speed":6},"rain":true}'
    eventually has out 6
}

@test "watch --pick shows only changes of the part, also after a restart" {
    bindctl set cells/w '{"a":1,"b":1}'
    beside bindctl watch cells/w --pick /a -F '{value}'
    eventually has out 1
    bindctl set cells/w '{"a":1,"b":2}'
    bindctl set cells/w '{"a":2,"b":2}'
    eventually has out 2
    kill_daemon
    start_daemon
    bindctl set cells/w '{"a":2,"b":3}'
    bindctl set cells/w '{"a":3,"b":3}'
    eventually has out 3
    is "$(tr '\n' ' ' < "$directory/out")" '1 2 3 '
}

@test "watch -- CMD runs a command for each value, in order and one at a time" {
    bindctl set cells/a 1
    # shellcheck disable=SC2016
    beside timeout 60 bindctl watch 'cells/*' -- sh -c 'read -r line; sleep .05; echo "$BINDER_SOURCE=$BINDER_VALUE $(jq -r .seq <<END
$line
END
) $BINDER_SEQ"'
    eventually has out 'cells/a=1 1 1'
    for i in 2 3 4 5; do bindctl set cells/a "$i"; done
    bindctl set cells/b '"two words"'
    bindctl remove cells/a
    eventually has out 'cells/a= 7 7'
    is "$(cat "$directory/out")" "$(printf 'cells/a=%s\n' '1 1 1' '2 2 2' '3 3 3' '4 4 4' '5 5 5'; printf '%s\n' 'cells/b=two words 6 6' 'cells/a= 7 7')"
    is "$(cat "$directory/err")" ''
}

@test "watch -- CMD: what fails is reported, -n counts runs, and --changes-only leaves out the present" {
    bindctl set cells/a 1
    beside bindctl watch cells/a --changes-only -n 2 -- sh -c 'echo "$BINDER_VALUE"; exit 3'
    traced '"kind":"state"'
    bindctl set cells/a 2
    bindctl set cells/a 3
    eventually has out 3
    is "$(cat "$directory/out")" $'2\n3'
    eventually has err 'bindctl: cells/a: the command has exited with 3'
    run -127 --separate-stderr bindctl watch cells/a -- /no/such
    is "$status" 127
    run --separate-stderr bindctl watch -- true
    is "$status/$stderr" "2/bindctl: missing argument PATTERN; see 'bindctl help watch'"
}

@test "-q leaves out notes, and no errors" {
    beside bindctl -q watch cells/a
    eventually has out '--- live after 0'
    kill_daemon
    sleep .5
    start_daemon
    bindctl set cells/a 1
    eventually has out $'cells/a\t1'
    is "$(cat "$directory/err")" ''
    run --separate-stderr bindctl -q get cells/none
    is "$status" 4
    [[ $stderr == 'bindctl: no source'* ]]
}

@test "spark prints a curve of one line, and history bars for numbers" {
    begin=$(date -u +%Y-%m-%dT%H:%M:%S.%NZ)
    for i in 20 22 21 29; do
        bindctl set cells/t "$i"
        sleep .3
    done
    bindctl spark cells/t --since "$begin" --points 60 > "$directory/out"
    LC_ALL=C.UTF-8 grep -qE '^ *▁+▃+▂+█+  29$' "$directory/out"
    is "$(bindctl spark cells/t --since "$begin" -r --points 4 | LC_ALL=C.UTF-8 wc -m)" 5
    is "$(bindctl spark cells/t --since "$begin" -j | jq -c '[.source,.value,.low,.high]')" '["cells/t",29,20,29]'
    terminal 80 24 'bindctl history cells/t; bindctl set cells/t x; bindctl history cells/t -n 1; sleep 60'
    eventually shows ' 4  29     ████████████████████$'
    eventually shows ' 1  20     █████████████▊$'
    eventually shows '^  5  .* "x"$'
}

@test "plot -f stays in place and goes on with new values" {
    bindctl set cells/t 1
    terminal 80 20 "bindctl plot -f cells/t --since -1h"
    eventually shows '^cells/t  last 1  min 1  max 1$'
    bindctl set cells/t 7
    eventually shows '^cells/t  last 7  min 1  max 7$'
    eventually shows '^ *└[─┬]+$'
    kill_daemon
    eventually shows 'the connection is lost; waiting for the daemon'
    start_daemon
    bindctl set cells/t 8
    eventually shows '^cells/t  last 8  min 1  max 8$'
    keys q
    run --separate-stderr bindctl plot -f cells/t
    is "$status/$stderr" "2/bindctl: --follow needs a terminal; 'bindctl watch' prints the values; see 'bindctl help plot'"
}

@test "on a terminal counters have units, and descriptions are wrapped between words" {
    terminal 60 120 'bindctl stats; bindctl stats --limits; bindctl services; sleep 60'
    eventually shows '^  resident_bytes +[0-9.]+ MiB$'
    eventually shows '^  uptime_s +[0-9]+s$'
    eventually shows '^  line_in +1 MiB  bytes of a line from a client$'
    eventually shows '^cells +Named JSON values for scripts: one program sets$'
    eventually shows '^ +them, others watch them\.$'
    bindctl stats | grep -qE '^resident_bytes +[0-9]+$'
}

@test "stats --users shows what each user uses" {
    bindctl set cells/t 1
    is "$(bindctl stats --users -j | jq -c 'keys')" \
        '["buffered_bytes","connections","journal_bytes","memory_bytes","state_bytes","uid","user"]'
    bindctl stats --users | tr '\t' ' ' > "$directory/out"
    grep -qE "^ *$(id -u) +$(id -un) +[0-9]+ +[1-9][0-9]* +[0-9]+ +[0-9]+ +[1-9][0-9]*$" "$directory/out"
}

@test "journal info shows sizes with units, and the streams with most events and bytes" {
    for i in 1 2 3; do bindctl set cells/often "$i"; done
    bindctl set cells/large "\"$(printf 'x%.0s' {1..5000})\""
    bindctl journal info > "$directory/out"
    grep -qE '^[0-9.]+ KiB, [0-9.]+ (K?i?B) of it free$' "$directory/out"
    is "$(sed -n '/^most events:/,/^most bytes/p' "$directory/out" | sed -n 2p)" '  cells/often  3 events, 33 B'
    is "$(sed -n '/^most bytes of data:/,/^types/p' "$directory/out" | sed -n 2p)" '  cells/large  1 events, 4.9 KiB'
    is "$(bindctl journal info --file "$directory/journal.db" -j | jq -c '.most_written[0]')" \
        '{"stream":"cells/often","events":3,"bytes":33}'
    is "$(bindctl journal info -j | jq .data_bytes)" 5045
}

@test "binderd --log-level leaves out less important lines" {
    grep -q ' notice: ' "$directory/log"
    kill "$daemon"
    wait "$daemon"
    : > "$directory/log"
    start_daemon --log-level warning
    kill "$daemon"
    wait "$daemon"
    # A machine may allow few open files.
    is "$(grep -v 'files may be open' "$directory/log")" ''
    run --separate-stderr binderd --log-level loud
    is "$status" 64
    [[ $stderr == *"--log-level takes one of error, warning, notice, info, not 'loud'" ]]
}
