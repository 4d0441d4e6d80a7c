# Commands that show the daemon and its values: in place on a terminal, as lines in a pipe.

load support

setup() {
    make_place
    unset PAGER
    start_daemon
}

teardown() { remove_place; }

# Starts a command in a terminal.
terminal() { # columns rows command
    # The tmux server of the previous terminal may still be shutting down.
    eventually tmux -S "$directory/tmux" -f /dev/null new-session -d -s view -x "$1" -y "$2" "$3" 3>&- \
        2> "$directory/err"
    background+=("$(tmux -S "$directory/tmux" display-message -p '#{pid}')")
}

screen() { tmux -S "$directory/tmux" capture-pane -p -t view "$@"; }
shows() { screen | grep -qE -e "$1"; }      # pattern
hides() { ! shows "$1"; }                   # pattern
keys() { tmux -S "$directory/tmux" send-keys -t view "$@"; } # key...
is_gone() { ! tmux -S "$directory/tmux" has-session -t view 2> /dev/null; }

# Fails if a line of the terminal is wider than it; wide characters count twice.
fits() { # columns
    local widest
    widest=$(screen | LC_ALL=C.UTF-8 wc -L)
    [ "$widest" -le "$1" ] || { echo "a line of $widest columns"; return 1; }
}

resize() { tmux -S "$directory/tmux" resize-window -t view -x "$1" -y "$2"; } # columns rows

# Sets cells in one commit, one for each line of stdin.
fill() { bindctl set - > "$directory/filled"; }

@test "board shows values in place and marks what changes" {
    bindctl set cells/a 1
    bindctl set cells/b '"日本茶"'
    terminal 80 24 "bindctl board 'cells/**'"
    eventually shows '^  cells/a +1$'
    eventually shows '^cells/\*\*  2 sources$'
    eventually shows '^  cells/b +"日本茶"$'
    hides ' now| ago'
    bindctl set cells/a 2
    eventually shows '^▲ cells/a +2 +(now|[0-9]+s ago)$'
    bindctl set cells/a -5
    eventually shows '^▼ cells/a +-5 '
    bindctl set cells/b true
    eventually shows '^\* cells/b +true '
    bindctl set cells/c null
    eventually shows '^\+ cells/c +null '
    bindctl remove cells/a
    eventually shows '^- cells/a +\(gone\) '
    # The marks disappear, and so does the removed source, while nothing else happens.
    eventually shows '^  cells/c +null +([3-9]|[1-9][0-9]+)s ago$'
    for _ in 1 2; do eventually hides 'cells/a' || true; done
    hides 'cells/a'
    keys q
    eventually is_gone
}

@test "board shows 10,000 sources, long and wide names, and follows the size of the terminal" {
    for i in {1..10000}; do echo "cells/n$i $i"; done > "$directory/many"
    echo "cells/$(printf 'long%.0s' {1..40}) \"$(printf '한국어%.0s' {1..300})\"" >> "$directory/many"
    # A commit has at most 1024 calls.
    split -l 1000 "$directory/many" "$directory/part."
    for part in "$directory"/part.*; do fill < "$part"; done
    terminal 80 24 "bindctl board 'cells/**'"
    eventually shows '10,001 sources'
    eventually shows '^  cells/longlong.*… +"한국어.*…'
    fits 80
    eventually shows '1–20 of 10,001'
    keys End
    eventually shows 'of 10,001 '
    eventually shows '^  cells/n9999 +9999'
    keys s
    eventually shows 'sort by name'
    bindctl set cells/n5 0
    eventually shows '^▼ cells/n5 +0 '
    resize 200 50
    eventually shows '1–46 of 10,001'
    fits 200
    resize 30 8
    eventually shows '1–4 of 10,001'
    fits 30
    keys Home Enter
    eventually shows '^cells/n5$'
    keys Escape q
    eventually is_gone
}

@test "board waits for sources and for a restarted daemon" {
    terminal 80 24 "bindctl board 'cells/**' system/uptime"
    eventually shows 'system/uptime'
    bindctl set cells/a 1
    eventually shows '^\+ cells/a +1'
    kill_daemon
    eventually shows '^the connection is lost; waiting for the daemon$'
    eventually shows 'cells/a +1'
    start_daemon
    eventually hides 'the connection is lost'
    bindctl set cells/a 2
    eventually shows '^▲ cells/a +2'
    keys q
    eventually is_gone
}

@test "board without sources says so, and a bad pattern is refused" {
    terminal 80 24 "bindctl board 'cells/*'"
    eventually shows '^no source matches yet$'
    keys C-c
    eventually is_gone
    run --separate-stderr bindctl board 'cells/**/x'
    is "$status" 5
    is "$output" ''
    run --separate-stderr bindctl board
    is "$status" 2
    is "$stderr" "bindctl: missing argument PATTERN; see 'bindctl help board'"
}

@test "board in a pipe prints the values once" {
    bindctl set cells/a 1
    bindctl set cells/b '{"x":2}'
    is "$(bindctl board 'cells/**')" $'cells/a\t1\ncells/b\t{"x":2}'
    is "$(bindctl board 'cells/*' -j)" $'{"source":"cells/a","value":1}\n{"source":"cells/b","value":{"x":2}}'
    is "$(bindctl board cells/a -r)" 1
}

# Writes to a cell until the test ends.
writes() { # cell
    beside bash -c 'while echo "{\"method\":\"set\",\"params\":{\"source\":\"'"$1"'\",\"value\":$((++i))}}"; do sleep .02; done | bindctl pipe'
}

@test "top shows rates, streams and clients in place" {
    writes cells/busy
    terminal 80 24 'bindctl top'
    eventually shows '^cells/busy +[0-9]+ +[0-9.,]+ (B|KiB)$'
    eventually shows '^binderd +.*/bus.sock +up '
    eventually shows '^events/s +[0-9]+ +[▁▂▃▄▅▆▇█]{2,}$'
    eventually shows '^commit +[0-9.]+ ms mean, [0-9.]+ ms max +[▁▂▃▄▅▆▇█]+$'
    eventually shows '^ +[0-9]+ +root +[0-9]+ +bindctl [0-9.]+ +[0-9]+ +4 +'
    fits 80
    resize 200 40
    eventually shows '^STREAM +EVENTS/S +BYTES/S +ID +USER +PID'
    eventually shows '^cells/busy .* root '
    fits 200
    resize 20 5
    eventually hides STREAM
    fits 20
    resize 80 24
    kill_daemon
    eventually shows 'the connection is lost'
    start_daemon
    eventually hides 'the connection is lost'
    keys q
    eventually is_gone
}

@test "top in a pipe prints a line for each stream that is written" {
    writes cells/busy
    # On a busy machine the writer may have no turn in the second that is shown.
    tops() { bindctl top > "$directory/top" && contains top $'^cells/busy\t[0-9.]+\t[0-9.]+$'; }
    eventually tops
    has_members() { [ "$(bindctl top -j | jq -c 'keys')" = '["bytes_per_second","events_per_second","stream"]' ]; }
    eventually has_members
}

@test "streams are counted only while somebody watches" {
    bindctl set cells/a 1
    is "$(bindctl get daemon/streams | jq -cS .)" \
        '{"bytes_per_second":0,"count":0,"events_per_second":0,"streams":[]}'
    beside bindctl watch daemon/streams
    eventually grep -q live "$directory/out"
    for i in {1..5}; do bindctl set cells/a "$i"; done
    eventually grep -q '"stream":"cells/a"' "$directory/out"
    # An interval without writes shows zeros.
    is_quiet() { tail -n 1 "$directory/out" | grep -q '"count":0'; }
    eventually is_quiet
}

@test "ps lists the clients, and kick ends one, which learns the reason" {
    beside bindctl watch 'cells/**'
    eventually grep -q live "$directory/out"
    pid=${background[-1]}
    id=$(bindctl ps -j | jq "select(.pid == $pid).id")
    line=$(bindctl ps | grep "^$id"$'\t')
    [[ $line =~ ^$id$'\t'root$'\t'$pid$'\t'bindctl\ [0-9.]+$'\t'1$'\t'[0-9]+$'\t'0$'\t'20[0-9T:.-]+Z$ ]]
    # A client without hello is shown by its program.
    socat -u "UNIX-CONNECT:$BINDER_SOCKET" - > "$directory/closing" 3>&- &
    background+=($!)
    eventually eval 'bindctl ps | grep -q socat'
    bindctl kick "$id"
    wait "$pid" && status=0 || status=$?
    is "$status" 6
    is "$(cat "$directory/err")" "bindctl: an administrator has ended this connection with 'bindctl kick'"
    bindctl kick "$(bindctl ps | awk '/socat/ { print $1 }')"
    eventually grep -qE '"closing","params":\{"reason":"kicked","epoch":"[^"]+","last":[0-9]+\}\}$' "$directory/closing"
    eventually contains log "notice: uid 0 pid [0-9]* ended connection $id of uid 0 pid $pid"
}

@test "kick answers a client that ends itself, and names what is wrong" {
    is "$(printf '%s\n' '{"id":1,"method":"hello"}' | socat -t 60 - "UNIX-CONNECT:$BINDER_SOCKET" | jq .result.conn | wc -l)" 1
    coproc OWN { socat -t 5 - "UNIX-CONNECT:$BINDER_SOCKET"; }
    echo '{"id":1,"method":"hello"}' >&"${OWN[1]}"
    read -r line <&"${OWN[0]}"
    own=$(jq .result.conn <<< "$line")
    echo '{"id":2,"method":"kick","params":{"conn":'"$own"'}}' >&"${OWN[1]}"
    read -r line <&"${OWN[0]}"
    is "$(jq -c '[.id, .result.conn]' <<< "$line")" "[2,$own]"
    read -r line <&"${OWN[0]}"
    is "$(jq -r .params.reason <<< "$line")" kicked
    run --separate-stderr bindctl kick 99999
    is "$status" 4
    is "$stderr" "bindctl: there is no connection 99999; 'bindctl ps' lists the connections"
    run --separate-stderr bindctl kick me
    is "$status" 2
    is "$stderr" "bindctl: ID is the number of a connection, not 'me'; see 'bindctl help kick'"
}

@test "kick is for administrators only" {
    [ "$(id -u)" = 0 ] || skip "only root can become other users"
    kill_daemon
    cat > "$directory/binder.conf" <<'END'
{ "socket_mode": "0666",
  "roles": [ { "name": "guest", "users": [4001], "methods": { "allow": ["**"], "deny": ["kick"] }, "read": ["**"] } ] }
END
    start_daemon --config "$directory/binder.conf"
    cp "$(command -v bindctl)" "$directory/bindctl"
    chmod 755 "$directory" "$directory/bindctl"
    run --separate-stderr setpriv --reuid 4001 --regid 4001 --clear-groups "$directory/bindctl" kick 1
    is "$status" 4
    [[ $stderr == *"'kick'"* ]]
    run bindctl acl check 4001 kick
    is "$status" 1
}

@test "tree shows sources by segment" {
    bindctl set cells/a/one 1
    bindctl set cells/a/two '"日本"'
    bindctl set cells/b true
    is "$(bindctl tree cells)" $'cells/a/one\t1\ncells/a/two\t"日本"\ncells/b\ttrue'
    is "$(bindctl tree cells/a -r)" $'cells/a/one\ncells/a/two'
    terminal 40 24 'bindctl tree cells; bindctl tree cells -L 2; echo done; sleep 60'
    eventually shows '^done$'
    is "$(screen | sed '/^$/d')" 'cells
├── a
│   ├── one  1
│   └── two  "日本"
└── b  true
cells
├── a  (2 sources)
└── b  true
done'
    run --separate-stderr bindctl tree nothing
    is "$status" 4
    run --separate-stderr bindctl tree 'cells/*'
    is "$status" 2
}

@test "whoami says who the daemon takes one for" {
    is "$(bindctl whoami -r)" root
    is "$(bindctl whoami -F '{uid} {role}')" '0 owner'
    bindctl whoami | grep -qx $'role\towner'
    [ "$(bindctl whoami -j | jq '.allowed.methods | length')" -gt 50 ]
}

@test "ping -c prints each time and a summary, and waits for a restarted daemon" {
    bindctl ping -c 3 -i 1ms > "$directory/pings"
    is "$(grep -cE $'^[123]\t[0-9]+ µs$' "$directory/pings")" 3
    grep -qE '^3 sent, 3 answered: min [0-9]+, mean [0-9]+, max [0-9]+ µs$' "$directory/pings"
    is "$(bindctl ping -c 2 -i 1ms -j | jq -c .n)" $'1\n2'
    beside bindctl ping -c 100000 -i 20ms
    eventually grep -q µs "$directory/out"
    kill_daemon
    eventually grep -q 'no answer' "$directory/err"
    start_daemon
    lines=$(wc -l < "$directory/out")
    more() { [ "$(wc -l < "$directory/out")" -gt "$lines" ]; }
    eventually more
    run --separate-stderr bindctl ping -c 0
    is "$status" 2
    run --separate-stderr bindctl ping -i 1s
    is "$status" 2
    is "$stderr" "bindctl: option '--interval' needs --count; see 'bindctl help ping'"
}

@test "plot draws the past of a source, with its peaks" {
    for i in 1 5 3 40 2; do bindctl set cells/t "$i"; done
    bindctl plot cells/t --since -1m > "$directory/plot"
    is "$(head -n 1 "$directory/plot")" 'cells/t  last 2  min 1  max 40'
    [ "$(sed -n '/└/p' "$directory/plot" | grep -o '┬' | wc -l)" -ge 3 ]
    tail -n 1 "$directory/plot" | grep -qE '^ +([0-9:]{8} +){3}'
    grep -q '^40 ┤ *[^ ]' "$directory/plot"
    grep -q '^ 0 ┤' "$directory/plot"
    [ "$(LC_ALL=C.UTF-8 wc -L < "$directory/plot")" -le 80 ]
    # All five values are within the last intervals.
    bindctl plot cells/t --since -1m --points 2 -j > "$directory/points"
    is "$(jq -s 'map(.high) | max' "$directory/points")" 40
    is "$(jq -s 'map(.low) | min' "$directory/points")" 1
    is "$(bindctl plot cells/t --since -1m --points 2 -r | tail -n 1)" 2
    terminal 120 20 'bindctl plot cells/t --since -1m; sleep 60'
    eventually shows '^ +└[─┬]{100,}$'
    fits 120
}

@test "plot picks a part, and takes booleans and positions" {
    bindctl set cells/o '{"a":{"b":3}}'
    bindctl set cells/o '{"a":{"b":7}}'
    bindctl plot cells/o --pick /a/b --since -1m > "$directory/plot"
    grep -q '^[78] ┤' "$directory/plot"
    bindctl set cells/on true
    bindctl plot cells/on --since 1 > "$directory/plot"
    is "$(bindctl plot cells/on --since start -r | tail -n 1)" 1
}

@test "plot says why there is nothing to draw" {
    bindctl set cells/s hello
    refuses() { # status message words...
        run --separate-stderr bindctl "${@:3}"
        is "$stderr" "bindctl: $2"
        is "$status" "$1"
        is "$output" ''
    }
    refuses 5 "the values of 'cells/s' are not numbers; --pick /PATH plots a part of them" plot cells/s
    refuses 4 "no source 'cells/none'; 'bindctl get \"cells/**\"' lists those that exist" plot cells/none
    refuses 2 "plot takes one source, not 'cells/*'; see 'bindctl help plot'" plot 'cells/*'
    refuses 2 "--pick takes a path such as /wind/speed, not 'wind'; see 'bindctl help plot'" plot cells/s --pick wind
    refuses 2 "--points must be from 2 to 10000; see 'bindctl help plot'" plot cells/s --points 1
    refuses 2 "--since must be before --until; see 'bindctl help plot'" plot cells/s --since -1m --until -2m
    refuses 1 "position 99 is beyond the end of the journal (1)" plot cells/s --since 99
}

@test "shell edits lines with history and completion" {
    export HOME=$directory
    bindctl set cells/lamp 1
    bindctl set cells/ladder 2
    bindctl set lists/x '[]' || true
    terminal 80 24 'exec bindctl shell'
    eventually shows '^bindctl> *$'
    # A question to the daemon has a second, in which it may not be answered on a busy machine.
    completed() { # pattern
        local end=$((SECONDS + 3))
        keys Tab
        until shows "$1"; do [ "$SECONDS" -lt "$end" ] && sleep .05 || return 1; done
    }
    keys get Tab
    eventually shows '^bindctl> get *$'
    keys ce
    eventually completed '^bindctl> get cells/la$'
    keys m
    eventually completed '^bindctl> get cells/lamp *$'
    keys Enter
    eventually shows '^1$'
    keys 'call cells.tog'
    eventually completed '^bindctl> call cells.toggle *$'
    keys C-c # gives up the line
    eventually shows '^bindctl> *$'
    keys 'set cells/wide "日本 茶"' Enter 'get cells/wide' Enter
    eventually shows '^"日本 茶"$'
    keys 'watch cells/lamp' Enter
    eventually shows '^--- live'
    keys C-c # ends the command only
    eventually shows '^bindctl \[130\]> *$'
    keys Up Up Enter # the command before
    eventually shows '^bindctl> *$'
    keys 'get cells/none' Enter
    eventually shows '^bindctl \[4\]> *$'
    keys "get 'cells" Enter
    eventually shows "^bindctl: the quote ' is not closed$"
    keys exit Enter
    eventually is_gone
    grep -q 'watch' "$directory/.local/state/bindctl/history"
    terminal 80 24 'exec bindctl shell'
    eventually shows '^bindctl> *$'
    keys Up Up
    eventually shows "^bindctl> get 'cells$"
    keys C-c # the terminal forgets what was typed before
    eventually shows '^bindctl> *$'
    keys C-d
    eventually is_gone
}

@test "shell runs the lines of a file, and its code is that of the last command" {
    run --separate-stderr bindctl shell <<'END'
set cells/a "b c"   # a comment
bindctl get cells/a

set -
cells/b 3
END
    is "$status" 0
    is "$output" '"b c"'
    is "$(bindctl get cells/b)" 3
    run --separate-stderr bindctl shell <<< 'get cells/none'
    is "$status" 4
    run --separate-stderr bindctl shell <<< $'get cells/none\nget cells/a\nexit\nget cells/none'
    is "$status" 0
    is "$(bindctl shell <<< $'set cells/c 5\nget cells/c\nset cells/d _\nlock a -- bindctl get cells/b\nget cells/d\nset cells/e _\nget cells/e' | tr '\n' ' ')" '5 3 5 5 '
    # The options of the shell apply to its commands.
    is "$(unset BINDER_SOCKET; bindctl --socket "$directory/bus.sock" shell <<< 'get cells/b')" 3
}

@test "shell says what to install if libedit is missing" {
    cat > "$directory/no-edit" <<'END'
cd "$1"
mount --bind /dev/null "$(ldconfig -p | awk '/libedit.so.2/ { print $NF; exit }')"
exec bindctl shell
END
    terminal 80 24 "unshare -m bash $directory/no-edit /tmp"
    eventually shows '^bindctl: no line editing: libedit is not installed; to install it: apt install'
    eventually shows '^bindctl> *$'
    keys 'set cells/a 7' Enter 'get cells/a' Enter
    eventually shows '7$'
    keys C-d
    eventually is_gone
}

@test "bindctl is not linked with libedit" {
    run ldd "$(command -v bindctl)"
    [[ $output != *edit* ]]
}

@test "long output goes to a pager on a terminal only" {
    for i in {1..100}; do echo "cells/n$i $i"; done | fill
    terminal 80 24 "PS1='\$ ' exec bash --norc --noprofile"
    eventually shows '^\$ *$'
    keys "bindctl get 'cells/**'" Enter
    eventually shows '^:$' # less waits
    eventually shows '^SOURCE +VALUE$'
    eventually shows '^cells/n1 +1$'
    keys q
    eventually shows '^\$ *$'
    # Each end has a number, because the one before may still be shown.
    keys C-l "bindctl get cells/n1 cells/n2; echo 1=\$?" Enter
    eventually shows '^1=0$' # fits on the screen
    keys C-l "bindctl --no-pager get 'cells/**'; echo 2=\$?" Enter
    eventually shows '^2=0$'
    keys C-l "PAGER='head -n 3' bindctl tree cells; echo 3=\$?" Enter
    eventually shows '^3=0$'
    shows '^├── n1  1$'
    hides '^├── n99'
    keys C-l "PAGER=cat bindctl tree cells | head -n 1; PAGER= bindctl tree cells; echo 4=\$?" Enter
    eventually shows '^4=0$'
    shows '^└── n99  99$'
    keys C-l 'PAGER=/none bindctl tree cells; echo 5=$?' Enter
    eventually shows '^5=0$'
    shows '^└── n99  99$'
    is "$(PAGER='head -n 1' bindctl get 'cells/**' | wc -l)" 100
}

@test "colours carry meaning, and follow --color and NO_COLOR" {
    bindctl set cells/a 1
    bindctl set cells/b 1
    bindctl set cells/b '"x"'
    bindctl remove cells/a
    bindctl set cells/c true
    is "$(bindctl at 2 --diff --color=always || true)" $'\e[31m- cells/a 1\e[0m\n\e[33m~ cells/b\e[0m 1 -> "x"\n\e[32m+ cells/c true\e[0m'
    is "$(bindctl at 2 --diff || true)" $'- cells/a 1\n~ cells/b 1 -> "x"\n+ cells/c true'
    bindctl --color=always doctor | grep -q $'^\e\\[32mok\e\\[0m  *socket'
    bindctl doctor | grep -q '^ok  *socket'
    run --separate-stderr bindctl get cells/none
    [[ $stderr != *$'\e'* ]]
    run --separate-stderr bindctl --color=always get cells/none
    [[ $stderr == $'\e[31mbindctl:\e[0m no source'* ]]
    terminal 80 24 'bindctl get "cells/**"; bindctl get cells/none; NO_COLOR=1 bindctl get "cells/*"; sleep 60'
    eventually shows '^cells/c +true$'
    shows_twice() { [ "$(screen | grep -c '^cells/c')" = 2 ]; }
    eventually shows_twice
    screen -e | grep -qF $'cells/b  \e[32m"x"'
    screen -e | grep -qF $'\e[31mbindctl:'
    screen -e | grep -qxE 'cells/b  "x" *'
}
