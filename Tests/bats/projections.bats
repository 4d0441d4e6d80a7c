# Services in files that fold the events of other services, as a user would.

load support

setup() { start_with_services; }

teardown() { remove_place; }

restart_daemon() {
    kill "$daemon"
    wait "$daemon" || true
    start_daemon --config "$directory/binder.conf"
}

# The example of the documentation, with a factor.
doors() { # factor
    sed -n '/^-- doors.service/,/^```/p' "$BATS_TEST_DIRNAME/../../Documentation/services-in-a-file.md" |
        grep -v '^```' | sed "s/ + 1/ + ${1:-1}/"
}

count() { bindctl get "doors/$1" | jq .count; }
is_count() { [ "$(count "$1")" = "$2" ]; }
has_more() { local n; n=$(count "$1" 2> /dev/null) && [ "${n:-0}" -gt "$2" ]; }

@test "a service folds the events of cells: those of the past, and each in its commit" {
    bindctl set cells/door/front true
    bindctl set cells/lamp 1
    bindctl set cells/door/front false
    doors > doors.service
    [ "$(bindctl service check doors.service)" = 'doors.service is valid' ]
    run -0 bindctl service try doors.service --diff
    [[ "${lines[0]}" == '2 events in '*' ms; 1 sources would differ' ]]
    cp doors.service service.d/
    run -0 bindctl reload
    [[ "$output" == *'the events of the past are folded by the new text first'* ]]
    eventually is_count front 1
    bindctl watch doors/back > watched &
    background+=($!)
    bindctl set cells/door/back true
    is_count back 1
    eventually grep -q '"count":1' watched
    # The change has the position and the user of the event of the cell.
    [ "$(bindctl history doors/back -j | jq .seq)" = "$(bindctl history cells/door/back -j | jq .seq)" ]
    [ "$(bindctl get doors/back | jq .by)" = "$(id -u)" ]
    # The past of the rows is that of the cells.
    [ "$(bindctl get doors/front --at 3 | jq .count)" = 1 ]
    [ "$(bindctl get doors/front --at 1 | jq .open)" = true ]
    run -0 bindctl why doors/front
    [[ "$output" == *'set'* ]]
    # A refused command changes nothing.
    run -4 bindctl atomic -- set cells/door/back false -- call doors.close door=back -- call doors.close door=attic
    [ "$(bindctl get doors/back | jq -c '[.count, .open]')" = '[1,true]' ]
    bindctl call doors.close door=back
    [ "$(bindctl get doors/back | jq -c '[.count, .open]')" = '[1,false]' ]
}

@test "a view with a member that no row has gets a warning, if the text of the service shows its rows" {
    doors > service.d/doors.service
    bindctl reload
    printf '%s\n' 'view "Doors."' 'doors/* ~> doors where opne == true by count desc' '  key' '  cuont as integer' '  by' '  open' > d.view
    run -0 bindctl view check d.view
    is "$output" "warning: d.view:2:24: the rows of 'doors/*' have no 'opne'; did you mean 'open'?
warning: d.view:4:3: the rows of 'doors/*' have no 'cuont'; did you mean 'count'?
d.view is valid"
    # What comes from an event may have any member.
    doors | sed 's/^  doors\[door\] = .*/  doors[door] = e.value/' > service.d/doors.service
    bindctl reload
    has_no_warning() { [ "$(bindctl view check d.view)" = 'd.view is valid' ]; }
    eventually has_no_warning
}

@test "the state outlives restarts and kills, and a changed fold counts the past again" {
    doors > service.d/doors.service
    bindctl reload
    bindctl set cells/door/a true
    bindctl set cells/door/b true
    restart_daemon
    is_count a 1
    bindctl set cells/door/a false
    bindctl set cells/door/a true
    kill_daemon
    start_daemon --config "$directory/binder.conf"
    is_count a 2
    doors 10 > service.d/doors.service
    bindctl reload
    eventually is_count a 20
    is_count b 10
    bindctl set cells/door/b true
    is_count b 20
    restart_daemon
    is_count a 20
}

@test "a kill of the daemon while clients write loses no event and counts none twice" {
    doors > service.d/doors.service
    bindctl reload
    for round in 1 2 3 4 5; do
        { while bindctl set cells/door/a true; do :; done; } > /dev/null 2>&1 3>&- &
        local writer=$!
        eventually has_more a $((5 * round))
        kill_daemon
        wait "$writer" || true
        start_daemon --config "$directory/binder.conf"
        is_count a "$(bindctl history cells/door/a -j -n 100000 | wc -l)"
    done
}

@test "a fold that fails stops its service, and not the daemon or the writer" {
    doors | sed 's/local door = at.name/if e.value == "broken" then error("broken door") end local door = at.name/' > service.d/doors.service
    bindctl reload
    bindctl set cells/door/a true
    bindctl set cells/door/b broken
    bindctl set cells/door/a true
    [ "$(bindctl get cells/door/b)" = '"broken"' ]
    is_count a 1
    run -2 bindctl doctor
    [[ "$output" == *"critical"*"service 'doors' stops at event 3 (cells.set): doors.service:"*': broken door'* ]]
    run -1 bindctl call doors.close door=a
    [[ "$output" == *"service 'doors' stops at event 3"* ]]
    restart_daemon
    is_count a 1
    doors > service.d/doors.service
    bindctl reload
    eventually is_count a 2
    run -0 bindctl service try service.d/doors.service
    mkdir bad
    doors | sed 's/local door =/error("no") local door =/' > bad/doors.service
    run -5 bindctl service try bad/doors.service
    [[ "$output" == *'stops'*'(cells.set)'* ]]
}

@test "an unknown service or kind has line and column, in check, try and reload" {
    doors | sed 's/cells.set/cells.sett/' > doors.service
    for command in check try; do
        run -5 bindctl service $command doors.service
        [[ "$output" == *"doors.service:"*":5: 'cells' has no events 'cells.sett'; did you mean 'cells.set'?"* ]]
    done
    cp doors.service service.d/
    run -5 bindctl reload
    [[ "$output" == *"service.d/doors.service:"*":5: 'cells' has no events 'cells.sett'"* ]]
    doors | sed 's/cells/cels/g' > service.d/doors.service
    run -5 bindctl reload
    [[ "$output" == *"there is no service 'cels'; did you mean 'cells'?"* ]]
    run -4 bindctl get doors/a
    # The events of a service that the same reload brings.
    cat > service.d/alarm.service << 'END'
service("alarm", "Counts closed doors.")
local closed = value("alarm", "The number of closed doors.")
on["doors.closed"] = function() closed:set((closed:get() or 0) + 1) end
END
    doors > service.d/doors.service
    bindctl reload
    bindctl set cells/door/a true
    bindctl call doors.close door=a
    [ "$(bindctl get alarm)" = 1 ]
}

@test "events that retention has removed stay in the state, and a new text lacks them" {
    doors > service.d/doors.service
    bindctl reload
    for i in 1 2 3; do bindctl set cells/door/a true; done
    bindctl journal compact --before 4 --now > /dev/null || bindctl journal compact --before 4
    compacted() { [ "$(bindctl history cells/door/a -j | wc -l)" = 1 ]; }
    eventually compacted
    is_count a 3
    restart_daemon
    is_count a 3
    doors 10 > service.d/doors.service
    bindctl reload
    eventually is_count a 10
    eventually grep -q "service 'doors' has folded 1 events by its new text; it lacks those of other services that were removed up to 3" log
    # A start without a snapshot of the state says it too.
    kill_daemon
    start_daemon --config "$directory/binder.conf"
    is_count a 10
    eventually grep -q 'doors lacks events of other services that were removed up to 3' log
    restart_daemon
    is_count a 10
}

@test "retention keeps the events that a stopped service folds, until its text works" {
    doors | sed 's/local door = at.name/if e.value == "broken" then error("broken door") end local door = at.name/' > service.d/doors.service
    bindctl reload
    bindctl set cells/door/a true
    bindctl set cells/door/b broken
    for i in 1 2 3; do bindctl set cells/lamp "$i"; done
    bindctl journal compact --before 6
    restart_daemon
    is_count a 1
    run -2 bindctl doctor
    [[ "$output" == *"service 'doors' stops at event 3 (cells.set)"* ]]
    ! grep 'lacks events' log
    # The events are gone when the state has a snapshot without a fault.
    doors > service.d/doors.service
    bindctl reload
    eventually bindctl get doors/b > shown # at which the old text has stopped
    is_count a 1
    bindctl journal compact --before 6
    [ -z "$(bindctl history cells/door/a -j)" ]
    kill_daemon
    start_daemon --config "$directory/binder.conf"
    is_count a 1
    run -0 bindctl call doors.close door=a
}

@test "the time of folds of others is not taken from the command that records their events" {
    cat > service.d/slow.service << 'END'
service("slow", "Compares long texts.")
local count = value("slow", "The number of events.")
local a, b = string.rep("x", 50000), string.rep("x", 50000)
on["busy.done"] = function()
  local a, b = a, b
  for i = 1, 6000 do if a ~= b then error("different") end end
  count:set((count:get() or 0) + 1)
end
END
    cat > service.d/busy.service << 'END'
service("busy", "Records some events in one command.")
on.done = function() end
command.go = { "Goes.", run = function()
  for _ = 1, 3 do
    record("done", {})
    for i = 1, 300 do end
  end
end }
END
    bindctl reload
    eventually grep -q "service 'slow' has folded" log
    bindctl call busy.go
    [ "$(bindctl get slow)" = 3 ]
}

@test "a text in use that folds the events of a forgotten service does not hinder a reload" {
    doors > service.d/doors.service
    cat > service.d/alarm.service << 'END'
service("alarm", "Counts closed doors.")
local closed = value("alarm", "The number of closed doors.")
on["doors.closed"] = function() closed:set((closed:get() or 0) + 1) end
END
    bindctl reload
    bindctl set cells/door/a true
    bindctl call doors.close door=a
    rm service.d/doors.service
    bindctl reload
    bindctl call scripts.forget service=doors
    run -0 bindctl reload
    [[ "$output" == *"alarm.service:3:5: there is no service 'doors'"* ]]
    [ "$(bindctl get alarm)" = 1 ]
    # A text that is not in use yet is refused.
    sed -i 's/Counts/Counts all/' service.d/alarm.service
    run -5 bindctl reload
    [[ "$output" == *"alarm.service:3:5: there is no service 'doors'"* ]]
}
