# The text of others: it is never a file name, a line, a column or an option of its own.

load support

setup() {
    make_place
    start_daemon
}

teardown() { remove_place; }

@test "with -s the word is the text, whatever it is" {
    echo secret > "$directory/file"
    for text in "@$directory/file" @nobody - -- -x 5 null '{"a":1}' '[1,2' '"x' '' $'two\nlines' '--ttl=1s'; do
        bindctl set -s -- cells/a "$text" < "$directory/file"
        is "$(bindctl get cells/a)" "$(jq -cn --arg text "$text" '$text')"
        bindctl is -s -- cells/a "$text" < "$directory/file"
        bindctl wait -s -t 60s -- cells/a "$text" < "$directory/file" > /dev/null
        bindctl publish -s -- a/b "$text" < "$directory/file"
        is "$(bindctl get live/a/b)" "$(jq -cn --arg text "$text" '$text')"
    done
    # Without -s they are files, as the help says.
    bindctl set cells/a "@$directory/file"
    is "$(bindctl get cells/a -r)" secret
}

@test "a text that begins as JSON and is none is refused without -s" {
    for text in '[1,2' '{a:1}' '{"a":1,}' '"x'; do
        run --separate-stderr bindctl set cells/a "$text"
        is "$status" 2
        [[ $stderr == "bindctl: '$text' is not JSON: "*"; -s sets it as text; see 'bindctl help set'" ]]
        run --separate-stderr bindctl publish a/b "$text"
        is "$status" 2
        echo "$text" > "$directory/file"
        run --separate-stderr bindctl set cells/a "@$directory/file"
        is "$status" 2
        [[ $stderr == "bindctl: '$directory/file' is not JSON: "*"; -s \"\$(cat FILE)\" sets a file as text; see 'bindctl help set'" ]]
        run --separate-stderr bindctl set cells/a - < "$directory/file"
        is "$status" 2
        [[ $stderr == "bindctl: stdin is not JSON: "* ]]
        run --separate-stderr bindctl set - <<< "cells/a $text"
        is "$status" 2
        [[ $stderr == "bindctl: line 1: '$text' is not JSON: "* ]]
        # The advice works.
        bindctl set -s cells/a "$text"
        is "$(bindctl get cells/a -r)" "$text"
        bindctl set cells/a -s "$(cat "$directory/file")"
        bindctl remove cells/a
    done
    bindctl set cells/a 'Kim {and} [others]'
    is "$(bindctl get cells/a -r)" 'Kim {and} [others]'
}

@test "a value makes no line of its own with -F, and can be quoted" {
    bindctl set cells/song '"x\ncells/door=open\t\"y\""'
    is "$(bindctl get cells/song -F '{source}={value}')" 'cells/song=x\ncells/door=open\t"y"'
    bindctl get cells/song -F '{{"text":{value:json}}}' | jq -e '.text == "x\ncells/door=open\t\"y\""'
    bindctl get cells/song -F '{{"text":{value:string},"seq":{seq:string}}}' | jq -e '.seq == "1"'
    is "$(bindctl get cells/song -F '{value:raw}')" $'x\ncells/door=open\t"y"'
    bindctl set -s cells/song "it's \$(touch $directory/made) \`touch $directory/made\`"
    eval "$(bindctl get cells/song -F 'song={value:sh}')"
    is "$song" "$(bindctl get cells/song -r)"
    [ ! -e "$directory/made" ]
}

@test "the name of a client makes no row of its own" {
    coproc client { socat - "UNIX-CONNECT:$BINDER_SOCKET" 3>&-; }
    echo '{"id":1,"method":"hello","params":{"client":{"name":"x\n9\troot","version":"1"}}}' >&"${client[1]}"
    read -r -t 60 _ <&"${client[0]}"
    # The daemon may not have noticed yet that the command before has ended.
    rows() { [ "$(bindctl ps | wc -l)" = "$1" ]; }
    eventually rows 2
    bindctl ps | grep -qF $'\tx\\n9\\troot 1\t'
    rows_of_terminal() { [ "$(script -qec 'bindctl ps --no-pager' /dev/null < /dev/null | wc -l)" = "$1" ]; }
    eventually rows_of_terminal 3
    kill "$client_PID"
}

@test "a value that is too long for a variable is still given to a command" {
    head -c 200000 /dev/zero | tr '\0' a > "$directory/long"
    bindctl set cells/a "@$directory/long"
    touch "$directory/variables" "$directory/lengths"
    BINDER_VALUE=outer beside bindctl watch cells/a -- \
        sh -c "echo \"\${BINDER_VALUE-none}\" >> $directory/variables; jq -r '.value | length' >> $directory/lengths"
    eventually has lengths 200000
    has variables none
    eventually has err 'bindctl: BINDER_VALUE is not set for the command: the value is longer than 32 KiB; its stdin has it'
    bindctl set cells/a '"x\u0000y"'
    eventually has lengths 3
    eventually has err 'bindctl: BINDER_VALUE is not set for the command: the value has a NUL character; its stdin has it'
    is "$(tail -n 1 "$directory/variables")" none
    bindctl set cells/a short
    eventually has variables short
}
