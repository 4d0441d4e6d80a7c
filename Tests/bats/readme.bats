# The commands in the README and in Documentation/services.md work and print the output shown there.

load support
load typing

setup() {
    cd "$BATS_TEST_DIRNAME/../.."
    make_place
    start_daemon
}

teardown() { remove_place; }

@test "a minute of use" {
    types_blocks < <(sed -n '/^## A minute of use/,/^## Locks, queues/p' README.md)
    [ "$typed" -ge 12 ]
    is "$(bindctl get cells/fahrenheit)" 68
}

@test "locks, queues and services in a shell" {
    types_blocks < <(sed -n '/^## Locks, queues/,/^## See what/p' README.md)
    [ "$typed" -ge 9 ]
}

@test "the lines that show what happens" {
    bindctl call cells.add name=visits
    types_blocks < <(sed -n '/^## See what/,/^## Automations/p' README.md)
    is "$typed" 10
}

@test "the lines of automations are bindings, and the thermostat works" {
    local line count=0
    while IFS= read -r line; do
        case $line in '' | '#'*) continue ;; esac
        [[ ! $line =~ ^[a-z]+:\  ]] || line=${line#*: }
        bindctl bind --daemon "$line" > "$directory/shown"
        count=$((count + 1))
    done < <(sed -n '/^## Automations/,/^## A view in/p' README.md | awk '/^```/ { inside = !inside; next } inside')
    is "$count" 9
    bindctl set cells/wanted 20
    bindctl set cells/temperature 19
    eventually is "$(bindctl wait cells/heater)" true
    bindctl set cells/temperature 21
    bindctl wait cells/heater false
}

@test "the commands for another machine, with ssh in place of which a program runs them here" {
    mkdir "$directory/bin"
    printf '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift 2\nexec sh -c "$*"\n' > "$directory/bin/ssh"
    chmod +x "$directory/bin/ssh"
    bindctl set cells/lamp true
    # shellcheck disable=SC2016
    line=$(sed -n '/^## From another/,/^## When not/p' README.md | sed -n 's/^\(bindctl -H .*[^ ]\)  *#.*/\1/p')
    is "$(PATH=$directory/bin:$PATH eval "$line")" true
}

@test "the commands of the services" {
    types_blocks < Documentation/services.md
    [ "$typed" -ge 30 ]
}
