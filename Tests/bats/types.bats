# Types of values: in files and declared, in boards, plots and doctor, as a user would.

load support

setup() {
    make_place
    cd "$directory"
    mkdir types.d bind.d
    echo '{}' > binder.conf
    start_daemon --config "$directory/binder.conf"
}

teardown() { remove_place; }

@test "types of files are reloaded together, and mistakes have a place" {
    printf '%s\n' '# the house' 'cells/*/celsius: number, "°C", -40…60' 'cells/mode: string, one of day night' > types.d/house.types
    is "$(bindctl reload)" 'changed: types'
    run -5 bindctl set cells/hall/celsius 61
    is "$output" "bindctl: 'cells/hall/celsius' takes a number from -40 to 60 °C, says $directory/types.d/house.types:2"
    run -5 bindctl set cells/mode dusk
    bindctl set cells/mode night
    run -5 bindctl describe cells/mode --set boolean
    [[ "$output" == *"is declared in $directory/types.d/house.types:3: change it there and reload" ]]
    echo 'cells/x: number, 5…1' >> types.d/house.types
    run -5 bindctl reload
    [[ "$output" == *"$directory/types.d/house.types:4:18: the range begins with its least number"* ]]
    run -5 bindctl set cells/mode dusk
    echo 'mode: every(5m) | constant("dusk") ~> cells/mode' > bind.d/a.bind
    sed -i '$d' types.d/house.types
    run -0 bindctl reload
    [[ "$output" == *"$directory/bind.d/a.bind:1:28: 'cells/mode' takes one of day, night, not \"dusk\""* ]]
    # A binding of a file has its line for why.
    bindctl set cells/z 1
    printf '%s\n' '# one' 'heat: cells/z ~> cells/zz' > bind.d/z.bind
    bindctl reload > /dev/null
    eventually bindctl is 'cells/zz exists'
    bindctl why cells/zz | grep -qF 'binding heat (z.bind:2): cells/z ~> cells/zz'
    rm bind.d/z.bind
    bindctl reload > /dev/null
    bindctl why cells/zz | grep -qF 'binding that is no longer there: cells/z ~> cells/zz'
    rm types.d/house.types bind.d/a.bind
    run -0 bindctl reload
    bindctl set cells/mode dusk
}

@test "declared types have titles and units, and a silent sensor is named" {
    is "$(bindctl describe cells/hall/celsius --set 'number, "°C", "Hall", digits 1, silent 1s')" \
        'cells/hall/celsius: number, "°C", "Hall", digits 1, silent 1s'
    bindctl set cells/hall/celsius 21
    bindctl set cells/attic/celsius 25
    is "$(bindctl describe --types)" $'cells/hall/celsius\tnumber, "°C", "Hall", digits 1, silent 1s\t'
    bindctl describe cells/hall/celsius | grep -qF 'type  number, "°C", "Hall", digits 1, silent 1s'
    bindctl plot cells/hall/celsius cells/attic/celsius > plot
    grep -qF '━ Hall  cells/hall/celsius (°C)  last 21' plot
    grep -qF '━ cells/attic/celsius  last 25' plot
    bindctl set cells/boards/house '{"tiles": [{"source": "cells/attic/celsius"}, {"source": "cells/hall/celsius"}]}'
    is "$(bindctl board house)" $'cells/attic/celsius\t25\ncells/hall/celsius\t21'
    run -4 bindctl board hause
    is "$output" "bindctl: no board 'hause'; did you mean 'house'?"
    eventually bindctl is 'daemon/silent != []'
    bindctl doctor | grep -qF 'Hall (cells/hall/celsius) is silent: the last value is of'
    is "$(bindctl describe cells/hall/celsius --unset -r)" true
    run -1 bindctl describe cells/hall/celsius --unset
    run -2 bindctl describe --set number
    run -2 bindctl plot a/b a/b a/b a/b a/b a/b a/b
    run -2 bindctl board house cells/x
}

@test "values from before a type are named once it is declared, and by doctor until they fit" {
    bindctl set cells/lamp 5
    bindctl set cells/mode dusk
    run -0 --separate-stderr bindctl describe cells/lamp --set boolean
    is "$stderr" "bindctl: 'cells/lamp' has a value that does not fit, which stays until the next write: it takes true or false"
    run -0 --separate-stderr bindctl describe cells/free --set number
    is "$stderr" ''
    echo 'cells/mode: string, one of day night' > types.d/house.types
    run -0 --separate-stderr bindctl reload
    run bindctl doctor
    is "$status" 1
    [[ "$output" == *"the declared type of cells/lamp: 'cells/lamp' has a value that does not fit"* ]]
    [[ "$output" == *"$directory/types.d/house.types:1:1: 'cells/mode' has a value that does not fit, which stays until the next write: it takes one of day, night"* ]]
    bindctl set cells/lamp true
    bindctl set cells/mode day
    run bindctl doctor
    [[ "$output" != *'does not fit'* ]]
    # A mistake in a file, before it is read at a start.
    echo 'cells/x: nummber' >> types.d/house.types
    run bindctl doctor
    is "$status" 2
    [[ "$output" == *"$directory/types.d/house.types:2:10: "* ]]
}

@test "who may declare a type sees the values that do not fit, of those that it may read" {
    [ "$(id -u)" = 0 ] || skip "only root can become other users"
    cat > binder.conf <<'END'
{
  "socket_mode": "0666",
  "roles": [
    { "name": "typist", "users": [4001], "methods": { "allow": ["types.*", "get"] },
      "read": ["cells/lamp", "cells/seen/*", "maps/**", "lists/l", "types/declared"], "write": ["types/declared"] },
  ],
}
END
    chmod 755 "$directory"
    kill_daemon
    start_daemon --config "$directory/binder.conf"
    cp "$(command -v bindctl)" ./typist
    types() { # pattern type
        run -0 --separate-stderr setpriv --reuid 4001 --regid 4001 --clear-groups ./typist describe "$1" --set "$2"
    }
    does_not_fit='has a value that does not fit, which stays until the next write: it takes'
    bindctl set cells/lamp 5
    types cells/lamp boolean
    is "$stderr" "bindctl: 'cells/lamp' $does_not_fit true or false"
    # Others are left out, and so is a source that is not there.
    bindctl set cells/hidden text
    types cells/hidden number
    is "$stderr" ''
    types cells/none number
    is "$stderr" ''
    printf '%s\n' 'cells/seen/a 1' 'cells/seen/b "x"' 'cells/seen/c [2]' | bindctl set -
    types 'cells/*/*' number
    is "$stderr" "bindctl: 'cells/seen/b' $does_not_fit a number
bindctl: 'cells/seen/c' $does_not_fit a number"
    # Elements of a list, and keys of a map: of one, and of all.
    bindctl call lists.append name=l value=x
    types lists/l number
    is "$stderr" "bindctl: 'lists/l' $does_not_fit a number"
    bindctl call maps.put name=m key=a value:=1 > "$directory/no"
    bindctl call maps.put name=m key=b value=x > "$directory/no"
    types maps/m/a string
    is "$stderr" "bindctl: 'maps/m/a' $does_not_fit a text"
    types maps/m/b string
    is "$stderr" ''
    bindctl call maps.put name=m key=c value:=true > "$directory/no"
    types maps/m number
    is "$stderr" "bindctl: 'maps/m' $does_not_fit a number"
}

@test "doctor says of a declared type how to remove it, not which file to correct" {
    bindctl set cells/lamp 5
    bindctl describe cells/lamp --set boolean 2> "$directory/no"
    run bindctl doctor
    [[ "$output" == *"set a value that fits, or type: bindctl describe 'cells/lamp' --unset"* ]]
    [[ "$output" != *"correct the file"* ]]
}

@test "doctor names bindings with a schedule that have not run yet" {
    # Not a time that comes while this test runs.
    bindctl bind --daemon --name night "every(\"$(date -d '12 hours' +%H):00\") ~> cells/x"
    bindctl bind --daemon --name often 'every(1s) ~> cells/y'
    eventually bindctl get cells/y > "$directory/no"
    run bindctl doctor
    [[ "$output" == *"2 active; by their schedule 'night' has not run yet"* ]]
}

@test "a time zone that the machine does not have is a warning with its place" {
    echo 'a: every("mon-fri 07:00 Europe/Berlni") ~> cells/x' > bind.d/a.bind
    run -0 bindctl reload
    [[ "$output" == *"$directory/bind.d/a.bind:1:10: no time zone 'Europe/Berlni' on this machine"* ]]
    echo 'a: every("mon-fri 07:00 Europe/Berlin") ~> cells/x' > bind.d/a.bind
    is "$(bindctl reload)" 'changed: bindings'
}

@test "events of a user, and bindings whose source has no value" {
    bindctl set cells/a 1
    is "$(bindctl events --by "$(id -un)" -F '{event.stream}')" cells/a
    run -2 bindctl events --by nobody-of-this-name
    run -0 bindctl bind --daemon 'cells/nope ~> cells/b'
    [[ "$output" == *'cells/nope has no value yet'* ]]
    script -qec 'stty cols 120; bindctl bindings --color never --no-pager' /dev/null < /dev/null > shown
    grep -qE 'cells/nope ~> cells/b +never .*no value yet: cells/nope' shown
}
