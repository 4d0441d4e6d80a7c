# Services in files: checked, tried, installed, changed and stopped, as a user would.

load support

setup() { start_with_services; }

teardown() { remove_place; }

rooms() {
    sed -n '/^-- rooms.service/,/^```/p' "$BATS_TEST_DIRNAME/../../Documentation/services-in-a-file.md" | grep -v '^```'
}

# A service whose fold, command and limits are given.
tally() { # text of the fold
    cat << END
service("tally", "Counts.")
local rows = rows("tally/*", "The last event.")
on.added = function(e) $1 end
command.add = { "Adds.", key = "text", run = function(p) record("added", { key = p.key }) end }
command.bad = { "Fails.", run = function() record("added", { key = "bad" }) local x return x.y end }
command.loop = { "Loops.", run = function() record("added", { key = "loop" }) while true do end end }
END
}

stop_daemon() {
    kill "$daemon"
    wait "$daemon" || true
}

restart_daemon() {
    stop_daemon
    start_daemon --config "$directory/binder.conf"
}

@test "a file that is no text, or begins with a byte order mark, says so" {
    head -c 300 /dev/zero | tr '\0' '\377' > service.d/odd.service
    run bindctl reload
    is "${lines[0]}" "bindctl: $PWD/service.d/odd.service: it is not UTF-8"
    rm service.d/odd.service
    for file in service.d/m.service bind.d/m.bind view.d/m.view types.d/m.types; do
        mkdir -p "${file%/*}"
        printf '\xef\xbb\xbfservice("m", "x")\n' > "$file"
        run bindctl reload
        [[ "$output" == *"$file:1:1: the file begins with a byte order mark; save it without"* ]] || { echo "$output"; return 1; }
        rm "$file"
    done
}

@test "a room cannot be booked twice" {
    rooms > rooms.service
    [ "$(bindctl service check rooms.service)" = 'rooms.service is valid' ]
    mkdir odd
    { cat rooms.service; echo 'query.odd = { "Odd.", run = function() return unknwon end }'; } > odd/rooms.service
    run -0 --separate-stderr bindctl service check odd/rooms.service
    is "$output" 'odd/rooms.service is valid'
    [[ $stderr == *"warning: odd/rooms.service:"*": nothing is called 'unknwon' outside of functions; it is nil" ]]
    # Mistakes that the text shows: an event that nothing applies, members that nothing has, a lost change.
    sed -e 's/record("booked"/record("boked"/' -e 's/at.user/at.usr/' -e 's/reject("taken"/reject("full"/' -e 's/last:set/last:sett/' \
        -e 's/not_found("booking", p.id)/not_found("booking", p.rom)/' -e 's/^  rooms\[e.room\] = next(r) and r$/  r.x = 1/' rooms.service > odd/rooms.service
    run -0 --separate-stderr bindctl service check odd/rooms.service
    is "$output" 'odd/rooms.service is valid'
    for doubt in "there is no 'on.boked' for the event; did you mean 'booked'?" "'at' has no 'usr'; did you mean 'user'?" \
        "'rejects' of 'book' lacks \"full\"" "'last' has no 'sett'; did you mean 'set'?" "'cancel' has no parameter 'rom'; did you mean 'room'?" \
        "'r' is a copy of the row; without 'rooms[e.room] = r' this changes nothing"; do
        [[ $stderr == *"warning: odd/rooms.service:"*": $doubt"* ]]
    done
    cp rooms.service service.d/
    [ "$(bindctl reload)" = 'changed: services' ]
    [[ "$(bindctl describe rooms.book)" == *"from  clock"* ]]
    [ "$(bindctl call rooms.book room=blue from=09:00 to=10:00)" = '"b1"' ]
    run -5 bindctl call rooms.book room=blue from=09:30 to=11:00
    [ "$output" = 'bindctl: the room is taken' ]
    run -4 bindctl call rooms.cancel room=blue id=b7
    [[ "$output" == *"there is no booking 'b7'"* ]]
    run -5 bindctl call rooms.book room=blue from=10:00
    [[ "$output" == *"missing parameter 'to'"* ]]
    [[ "$(bindctl get 'rooms/*')" == *'rooms/blue'*'"from":"09:00","to":"10:00"}}' ]]
    # The view that every service has, here of `rooms` and `rooms/*`.
    bindctl open rooms < /dev/null | jq -ce '[(.. | .rooms?, .all_rooms? // empty) | select(.)] | length == 2' | head -1
    # The texts of times compare as they follow each other, or are refused.
    run -5 bindctl call rooms.book room=blue from=9:00 to=9:59
    [[ "$output" == *'expected a time of day such as 18:00 at /from, got "9:00"'* ]]
    run -5 bindctl call rooms.book room='meeting room 1' from=10:00 to=11:00
    [[ "$output" == *'expected a name of A-Z a-z 0-9 _ . : - at /room'* ]]
    run -5 bindctl call rooms.book room=blue from:=9 to=11:00
    [[ "$output" == *'expected a time of day such as 18:00 at /from, got number'* ]]
    bindctl call rooms.book room=green from=10:00 to=11:00
    # The past of a row, whose events are in the stream of the service.
    [[ "$(bindctl history rooms/blue)" == *'"from":"09:00","to":"10:00"}}' ]]
    [ "$(bindctl history rooms/blue -j | wc -l)" = 1 ]
    bindctl describe rooms.book | grep -q 'refuses with  empty, taken'
    run -5 bindctl service try rooms.service --call 'book room=blue from=09:30 to=11:00' --diff
    [[ "${lines[0]}" == '2 events in '*' ms; 0 sources would differ' ]]
    [ "${lines[1]}" = 'rooms.book: the room is taken' ]
    run -5 bindctl service try rooms.service --call 'bok room=blue'
    [[ "$output" == *"'rooms' has no method 'bok'; did you mean 'book'?"* ]]
    sed 's/room = "name", from/room = "name", seats = "integer?", from/' rooms.service > odd/rooms.service
    run -5 bindctl service try odd/rooms.service --call 'book room=blue from=09:30 to=11:00 seats=2'
    [[ "$output" == *"expected integer at /seats, got string; use ':=' for values other than text, as in seats:=1"* ]]
    bindctl call rooms.cancel room=blue id=b1
    run -4 bindctl get rooms/blue
}

@test "what a service in a file has recorded is undone" {
    rooms > service.d/rooms.service
    [ "$(bindctl reload)" = 'changed: services' ]
    bindctl call rooms.book room=blue from=09:00 to=10:00
    before=$(bindctl events -n 1 -j | jq .seq)
    bindctl call rooms.cancel room=blue id=b1
    run -4 bindctl get rooms/blue
    is "$(bindctl undo --since "$before" --yes 2> /dev/null)" "+ rooms/blue $(bindctl get rooms/blue --at "$before")"
    blue=$(bindctl get rooms/blue)
    [[ $blue == *'"from":"09:00"'* ]]
    is "$(bindctl events -n 1 -j | jq -r .event.type)" rooms.rows-restored
    restart_daemon
    is "$(bindctl get rooms/blue)" "$blue"
    # A changed text folds the past, and keeps the row that the undo has set.
    sed -i 's/{ by = at.user, from = e.from/{ by = at.user, new = true, from = e.from/' service.d/rooms.service
    [ "$(bindctl reload)" = 'changed: services' ]
    is "$(bindctl get rooms/blue)" "$blue"
    # A kind that the text excepts.
    echo 'no_undo("cancelled", "the guests have gone")' >> service.d/rooms.service
    [ "$(bindctl reload)" = 'changed: services' ]
    bindctl call rooms.cancel room=blue id=b1
    seq=$(bindctl events -n 1 -j | jq .seq)
    run -1 --separate-stderr bindctl undo "$seq" --yes
    [[ $stderr == *"'rooms' is left: the guests have gone"* ]]
    run -4 bindctl get rooms/blue
    # It is a function of declarations, and the kind of an undo cannot be recorded.
    echo 'no_undo("cancelled", "again")' >> service.d/rooms.service
    run -5 --separate-stderr bindctl service check service.d/rooms.service
    [[ "$output$stderr" == *"'no_undo(\"cancelled\")' is declared twice"* ]]
}

@test "a trial tells of a row that is changed and not assigned" {
    tally 'if rows[e.key] then table.insert(rows[e.key].log, 1) else rows[e.key] = { log = array() } end' > tally.service
    run -0 --separate-stderr bindctl service check tally.service
    is "$stderr" ''
    run -0 --separate-stderr bindctl service try tally.service --call 'add key=a' --call 'add key=a'
    is "$stderr" "bindctl: warning: tally.service:3:1: a copy of a row of 'tally/*', read here, was changed and not assigned"
    tally 'local r = rows[e.key] or { log = array() } table.insert(r.log, 1) rows[e.key] = r' > tally.service
    run -0 --separate-stderr bindctl service try tally.service --call 'add key=a' --call 'add key=a'
    is "$stderr" ''
}

@test "a service and its view are installed, changed and installed again by one reload" {
    mkdir view.d
    rooms > service.d/rooms.service
    printf '%s\n' 'view "Rooms."' 'rooms/* ~> rooms' 'book -> rooms.book' > view.d/rooms.view
    [ "$(bindctl reload)" = 'changed: services, views' ]
    echo '{"intent":"book","args":{"room":"blue","from":"09:00","to":"10:00"}}' | bindctl open rooms | grep -q '"value":"b1"'
    # The view needs what the new text has.
    sed -i 's/"rooms\/\*"/"rooms\/of\/*"/' service.d/rooms.service
    sed -i 's/rooms\/\*/rooms\/of\/*/' view.d/rooms.view
    bindctl reload > out
    eventually sh -c 'bindctl get "rooms/of/*" | grep -q 09:00'
    # On a busy machine the rows follow the first frame.
    opens() { bindctl open rooms < /dev/null | grep -q '09:00'; }
    eventually opens
    bindctl describe rooms | grep -q '^  rooms  '
    # A view that has what the text has not is left out, and the message says so.
    echo 'cells/x ~> x' >> view.d/rooms.view
    sed -i 's/command.cancel/command.abort/' service.d/rooms.service
    echo 'cancel -> rooms.cancel room=row.id id=?' >> view.d/rooms.view
    run -0 bindctl reload
    [[ "$output" == *"rooms.view:5:"*"no method 'rooms.cancel'"*'the view is left out'* ]]
}

@test "ten clients book the same room at the same time, and one gets it" {
    rooms > service.d/rooms.service
    bindctl reload
    local pids=()
    for i in 1 2 3 4 5 6 7 8 9 10; do
        bindctl call rooms.book room=red from=01:00 to=02:00 > "out.$i" 2>&1 3>&- &
        pids[i]=$!
    done
    for pid in "${pids[@]}"; do wait "$pid" || true; done
    [ "$(cat out.* | grep -c '"b1"')" = 1 ]
    [ "$(cat out.* | grep -c 'the room is taken')" = 9 ]
}

@test "a fault has file, line and column, and the old version goes on" {
    tally 'rows[e.key] = e' > service.d/tally.service
    bindctl reload
    bindctl call tally.add key=a
    echo 'local x = = 1' >> service.d/tally.service
    run -5 bindctl reload
    [[ "$output" == *"service.d/tally.service:7:11: unexpected symbol near '='"* ]]
    bindctl call tally.add key=b
    printf 'service("other", "x")\nlocal r = rows("wrong/*", "x")\n' > tally.service
    run -5 bindctl service check tally.service
    [ "${lines[0]}" = "tally.service:1:1: the service is called 'other', but the file 'tally.service'" ]
    [ "${lines[1]}" = "tally.service:2:1: 'wrong/*': it does not begin with other/" ]
    tally 'rows[e.key] = e' > service.d/cells.service
    run -5 bindctl reload
    [[ "$output" == *"the service is called 'tally', but the file 'cells.service'"* ]]
    rm service.d/cells.service
    tally 'rows[e.key] = e' > service.d/tally.service
    chmod o+w service.d/tally.service
    run -5 bindctl reload
    [[ "$output" == *'everybody may write it'* ]]
}

@test "check agrees with the daemon about CRLF and about the size of a file" {
    tally 'rows[e.key] = e' | sed 's/$/\r/' > service.d/tally.service
    [ "$(bindctl service check service.d/tally.service)" = 'service.d/tally.service is valid' ]
    bindctl reload
    bindctl call tally.add key=a
    [ "$(bindctl get tally/a)" = '{"key":"a"}' ]
    printf '  local x = = 1\r\n' >> service.d/tally.service
    run -5 bindctl service check service.d/tally.service
    [[ "$output" == *"tally.service:7:13: unexpected symbol near '='"* ]]
    run -5 bindctl reload
    [[ "$output" == *"tally.service:7:13: unexpected symbol near '='"* ]]
    # The last line end counts, too.
    tally 'rows[e.key] = e' > service.d/tally.service
    printf '%*s\n' "$((65536 - $(wc -c < service.d/tally.service)))" '' | tr ' ' - >> service.d/tally.service
    [ "$(wc -c < service.d/tally.service)" = 65537 ]
    run -5 bindctl service check service.d/tally.service
    [[ "$output" == *'it has 65537 bytes; at most 65536'* ]]
    run -5 bindctl reload
    [[ "$output" == *'it has 65537 bytes; at most 65536'* ]]
}

@test "a command that fails or loops records nothing" {
    tally 'if e.key == "no" then error("no such key") end rows[e.key] = e' > service.d/tally.service
    bindctl reload
    bindctl call tally.add key=a
    for method in bad loop 'add key=no' 'add key=a/b'; do
        # shellcheck disable=SC2086
        run -1 bindctl call tally.$method
    done
    [ "$(bindctl get 'tally/*')" = "$(printf 'tally/a\t{"key":"a"}')" ]
    [ "$(bindctl events --since 0 | grep -c tally.added)" = 1 ]
    eventually grep -q "tally.service:5: attempt to index a nil value (local 'x')" log
    eventually grep -q 'tally.loop: tally.service:6: it has used all of its instructions' log
    eventually grep -q 'tally.service:3: no such key' log
    bindctl call tally.add key=b
    run -1 bindctl atomic -- call tally.add key=c -- call tally.bad
    run -4 bindctl get tally/c
}

@test "each failure has file, line, method and reason in the log, and in a trial" {
    cat > service.d/odd.service << 'END'
service("odd", "Fails in many ways.")
local function again(n) return 1 + again(n) end
command.grow = { "x", run = function() local s = "aaaaaaaa"
  while true do s = s .. s end end }
command.deep = { "x", run = function() return again(1) end }
command.infinite = { "x", run = function() return 1 / 0 end }
command.bytes = { "x", run = function() return "\xff" end }
query.cycle = { "x", run = function() local t = {} t.t = t return t end }
END
    bindctl reload
    for failure in 'grow 4 ' 'deep 2 ' 'infinite 6 ' 'bytes 7 ' 'cycle 8 '; do
        read -r method line <<< "$failure"
        run -1 bindctl call "odd.$method"
        eventually grep -q "odd.$method: odd.service:$line: " log
        run bindctl service try service.d/odd.service --call "$method"
        [[ "$output" == *"odd.service:$line: "* ]] || { echo "$output"; return 1; }
    done
    run -1 bindctl atomic -- call odd.infinite
    eventually grep -q 'atomic: odd.infinite: odd.service:6: ' log
}

@test "only the commands change: the state stays; a fold changes: the past is folded again" {
    tally 'rows[e.key] = e' > service.d/tally.service
    bindctl reload
    bindctl call tally.add key=a
    sed -i 's/"Adds."/"Adds a row."/' service.d/tally.service
    [ "$(bindctl reload)" = 'changed: services' ]
    [[ "$(bindctl describe tally.add)" == *'Adds a row.'* ]]
    bindctl watch tally/a > watched &
    background+=($!)
    eventually grep -q '{"key":"a"}' watched
    tally 'rows[e.key] = { twice = e.key .. e.key }' > service.d/tally.service
    bindctl reload
    eventually grep -q '{"twice":"aa"}' watched
    [ "$(bindctl history scripts/tally | wc -l)" = 3 ]
    [ "$(bindctl get tally/a)" = '{"twice":"aa"}' ]
    restart_daemon
    [ "$(bindctl get tally/a)" = '{"twice":"aa"}' ]
    run -0 bindctl service try service.d/tally.service --call 'add key=z'
    [ "${lines[1]}" = 'tally.add' ]
    [ "${lines[2]}" = '  tally.added tally {"key":"z"}' ]
    run -4 bindctl get tally/z
}

@test "a fold that cannot apply an event of the past is not used, and doctor shows why" {
    tally 'rows[e.key] = e' > service.d/tally.service
    bindctl reload
    bindctl call tally.add key=a
    bindctl call tally.add key=b
    tally 'if e.key == "b" then error("no b") end rows[e.key] = e' > service.d/tally.service
    bindctl reload
    says() { bindctl doctor | grep -q "$1"; }
    eventually says "the new text of service 'tally' is not used: service 'tally' stops at event 3 (tally.added): tally.service:3: no b"
    bindctl call tally.add key=c
    restart_daemon
    # The text of the journal takes its place.
    works() { bindctl call tally.add key=d; }
    eventually works
    [ "$(bindctl get 'tally/*' | wc -l)" = 4 ]
}

@test "a service that stops at a start does not stop the daemon" {
    tally 'rows[e.key] = e' > service.d/tally.service
    rooms > service.d/rooms.service
    bindctl reload
    bindctl call tally.add key=a
    bindctl call tally.add key=b
    rm service.d/tally.service
    bindctl reload
    bindctl call scripts.forget service=tally
    stop_daemon
    tally 'if e.key == "b" then error("no b") end rows[e.key] = e' > service.d/tally.service
    start_daemon --config "$directory/binder.conf"
    run -1 bindctl call tally.add key=c
    [[ "$output" == *"service 'tally' stops at event "*" (tally.added): tally.service:3: no b" ]]
    echo '{"id":1,"method":"tally.add","params":["c"]}' | bindctl pipe | jq -e '.error.data.reason == "service_stopped" and .error.data.seq > 1'
    [ "$(bindctl get 'tally/*')" = "$(printf 'tally/a\t{"key":"a"}')" ]
    run -2 bindctl doctor
    [[ "$output" == *"critical"*"service 'tally' stops at event"* ]]
    bindctl call rooms.book room=red from=01:00 to=02:00
    tally 'rows[e.key] = e' > service.d/tally.service
    bindctl reload
    works() { bindctl call tally.add key=c; }
    eventually works
    [ "$(bindctl get 'tally/*' | wc -l)" = 3 ]
}

@test "a backup starts without the file, and forget ends a service" {
    tally 'rows[e.key] = e' > service.d/tally.service
    bindctl reload
    bindctl call tally.add key=a
    rm service.d/tally.service
    restart_daemon
    bindctl call tally.add key=b
    [ "$(bindctl get 'tally/*' | wc -l)" = 2 ]
    run -0 bindctl reload
    [[ "$output" == *"scripts.forget service=tally"* ]]
    bindctl call scripts.forget service=tally
    run -4 bindctl call tally.add key=c
    run -0 bindctl reload
    [[ "$output" != *"the file is gone"* ]]
    restart_daemon
    run -4 bindctl call tally.add key=c
}

@test "retention keeps the events of a service that was forgotten, until a file brings it back" {
    echo '{"retention":[{"streams":"tally","max_count":1},{"streams":"cells/**","max_count":1}]}' > binder.conf
    tally 'rows[e.key] = e' > service.d/tally.service
    bindctl reload
    for key in a b c; do bindctl call tally.add key=$key; done
    rm service.d/tally.service
    bindctl reload
    bindctl call scripts.forget service=tally
    for i in 1 2 3; do bindctl set cells/lamp "$i"; done
    added() { bindctl events --since "$(bindctl journal info -j | jq '.first - 1')" | grep -c tally.added; }
    bindctl journal compact
    is "$(bindctl history cells/lamp -j | wc -l)" 1
    is "$(added)" 3
    bindctl journal compact --before 8
    is "$(added)" 3
    restart_daemon
    bindctl set cells/lamp 4
    bindctl journal compact
    is "$(bindctl history cells/lamp -j | wc -l)" 1
    is "$(added)" 3
    # The service that comes back has all its rows, and the rules hold for its events again.
    tally 'rows[e.key] = e' > service.d/tally.service
    bindctl reload
    has_all() { [ "$(bindctl get 'tally/*' | wc -l)" = 3 ]; }
    eventually has_all
    bindctl set cells/lamp 5
    bindctl journal compact
    is "$(added)" 1
    has_all
}

@test "a variable of the file that changes is an error, and nothing is recorded" {
    tally 'rows[e.key] = e' > service.d/tally.service
    {
        echo 'local n = 0'
        echo 'command.count = { "Counts.", run = function() n = n + 1 record("added", { key = "n" .. n }) end }'
    } >> service.d/tally.service
    bindctl reload
    bindctl call tally.add key=a
    for i in 1 2; do run -1 bindctl call tally.count; done
    eventually grep -q 'tally.service: a call has changed a variable or table of the file' log
    [ "$(bindctl get 'tally/*')" = "$(printf 'tally/a\t{"key":"a"}')" ]
    tally 'n = (n or 0) + 1 rows[e.key] = n' | sed '2i local n' > service.d/tally.service
    run -5 bindctl service try service.d/tally.service
    [[ "$output" == *'a call has changed a variable or table of the file'* ]]
    bindctl reload
    says() { bindctl doctor | grep -q "$1"; }
    eventually says "the new text of service 'tally' is not used: service 'tally' stops at event"
    [ "$(bindctl get tally/a)" = '{"key":"a"}' ]
}

@test "a new service that cannot fold its past stays unavailable until a text works" {
    tally 'rows[e.key] = e' > service.d/tally.service
    bindctl reload
    bindctl call tally.add key=a
    rm service.d/tally.service
    bindctl reload
    bindctl call scripts.forget service=tally
    restart_daemon
    tally 'error("no")' > service.d/tally.service
    bindctl reload
    stops() { bindctl call scripts.status | jq -e '.services[0].state == "stopped"'; }
    eventually stops
    run -1 bindctl call tally.add key=b
    [[ "$output" == *"tally.service:3: no"* ]]
    [ "$(bindctl events --since 0 | grep -c tally.added)" = 1 ]
    tally 'rows[e.key] = e' > service.d/tally.service
    bindctl reload
    works() { bindctl call tally.add key=c; }
    eventually works
    [ "$(bindctl get 'tally/*' | wc -l)" = 2 ]
}

@test "a call right after the reload of a new service waits while its past is folded, for 3 s" {
    again() { # the fold
        tally "$1" > service.d/tally.service
        printf '%s\n' '{"id":1,"method":"reload"}' '{"id":2,"method":"tally.add","params":{"key":"b"}}' | bindctl pipe > out
    }
    forget() {
        rm service.d/tally.service
        bindctl reload
        bindctl call scripts.forget service=tally
    }
    tally 'rows[e.key] = e' > service.d/tally.service
    bindctl reload
    add() { # events, in how many commits
        for ((i = 0; i < $2; i++)); do
            jq -nc '{id:1,method:"atomic",params:{calls:[range('"$1"')|{method:"tally.add",params:{key:"k\(.)"}}]}}'
        done | bindctl pipe > /dev/null
    }
    # So many that they are not folded at once, and yet in time on a busy machine.
    add 200 1
    forget
    run -4 bindctl get tally/k1
    again 'rows[e.key] = e'
    jq -es '.[] | select(.id == 2) | .result.seq > 200' out
    [ "$(bindctl get 'tally/*' | wc -l)" = 201 ]
    forget
    again 'error("no")'
    jq -es '.[] | select(.id == 2) | .error.data.reason == "service_stopped"' out
    # So many that they are not folded in time on any machine.
    again 'rows[e.key] = e'
    works() { bindctl call tally.add key=c; }
    eventually works
    add 1000 8
    forget
    again 'for i = 1, 350000 do end rows[e.key] = e'
    jq -es '.[] | select(.id == 2) | .error.data.reason == "folding"' out
}

@test "forget that is rolled back ends nothing" {
    tally 'rows[e.key] = e' > service.d/tally.service
    bindctl reload
    rm service.d/tally.service
    bindctl reload
    run -1 bindctl atomic -- call scripts.forget service=tally -- call tally.bad
    bindctl call tally.add key=a
}

@test "parameters are read in every form, and a wrong one is refused with its name" {
    cat > service.d/forms.service << 'END'
service("forms", "Shows what a command gets.")
local last = value("forms", "The last parameters.")
on.called = function(e) last:set(e) end
command.call = { "Keeps its parameters.", a = "text", b = "integer?", c = "text?", d = "list?", e = "yesno?",
    run = function(p) record("called", p) end }
END
    bindctl reload
    # Each form of a request, and what the command gets.
    while IFS='|' read -r given wanted; do
        printf '{"id":1,"method":"forms.call","params":%s}\n' "$given" | bindctl pipe | jq -e 'has("result")'
        [ "$(bindctl get forms)" = "$wanted" ]
    done << 'END'
{"a":"x"}|{"a":"x"}
{ "b" : 5 , "a" : "y" }|{"a":"y","b":5}
{"\u0061":"escaped name"}|{"a":"escaped name"}
{"a":"a \"quote\" \u00e4"}|{"a":"a \"quote\" ä"}
{"a":"","c":"c","e":true,"b":-7}|{"a":"","b":-7,"c":"c","e":true}
{"a":"five","b":1,"c":"","d":[ 1, {"n": 2} ],"e":false}|{"a":"five","b":1,"c":"","d":[1,{"n":2}],"e":false}
{"a":"null","b":null}|{"a":"null"}
{"a":"with options","_meta":{}}|{"a":"with options"}
["by place",3]|{"a":"by place","b":3}
END
    # Each wrong form, with the place and the rule.
    while IFS='|' read -r given wanted; do
        printf '{"id":1,"method":"forms.call","params":%s}\n' "$given" | bindctl pipe > answer
        jq -e --arg wanted "$wanted" '"\(.error.data.path) \(.error.message)" | contains($wanted)' answer || { echo "$given"; cat answer; return 1; }
    done << 'END'
{"a":"x","a":"y"}|duplicate
{"b":1}|/a
{}|/a
{"a":7}|/a
{"a":"x","b":1.5}|/b
{"a":"x","z":1}|/z
{"a":"x","d":"no list"}|/d
["x",1,"c",[],true,6]|at most 5 parameters
END
    jq -nc --arg long "$(head -c 300000 /dev/zero | tr '\0' x)" '{id: 1, method: "forms.call", params: {a: $long}}' | bindctl pipe | jq -e '.error.message | contains("262144 bytes")'
    [ "$(bindctl get forms)" = '{"a":"by place","b":3}' ]
}

@test "the history of a row has the events of all streams that change it" {
    cat > service.d/pots.service << 'END'
service("pots", "Sums.")
local pots = rows("pots/*", "A sum.")
on.added = function(e) pots[e.key] = (pots[e.key] or 0) + e.by end
command.add = { "Adds to one.", key = "name", run = function(p) record("added", { key = p.key, by = 1 }, "pots/" .. p.key) end }
command.give = { "Gives to one.", key = "name", run = function(p) record("added", { key = p.key, by = 10 }) end }
END
    bindctl reload
    for command in add give add give give; do bindctl call pots.$command key=blue > /dev/null; done
    is "$(bindctl history pots/blue -r)" $'1\n11\n12\n22\n32'
    is "$(bindctl history pots/blue -r -n 2)" $'22\n32'
    is "$(bindctl history pots/blue | cut -f 1,3,4)" $'2\t1\t1\n3\t\t11\n4\t2\t12\n5\t\t22\n6\t\t32'
}
