# The recipes of Documentation/recipes.md work and print the output shown there.

load support
load typing

setup() {
    recipes=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/Documentation/recipes.md
    make_place
    # The clients are not installed here.
    export PYTHONPATH=$BATS_TEST_DIRNAME/../../Protocol/clients/python/src PYTHONDONTWRITEBYTECODE=1
    start_daemon
    cd "$directory"
}

teardown() {
    cd /
    remove_place
}

# Types the commands of a section.
recipe() { # title commands
    awk -v title="## $1" '/^## / { inside = $0 == title } inside' "$recipes" > section
    writes_files < section
    types_blocks < section
    is "$typed" "$2"
}

@test "a lock" { recipe 'A lock' 7; }

@test "a status bar" { recipe 'A status bar' 8; }

@test "a job queue" { recipe 'A job queue' 4; }

@test "a configuration watcher" { recipe 'A configuration watcher' 9; }

@test "a sale" { recipe 'A sale' 4; }

@test "a booking" { recipe 'A booking' 2; }

@test "a reason" { recipe 'A reason' 4; }

@test "a sensor with a unit" { recipe 'A sensor with a unit' 8; }

@test "an undo" { recipe 'An undo' 12; }

@test "a metrics pipeline" { recipe 'A metrics pipeline' 8; }

@test "a thermostat" { recipe 'A thermostat' 11; }

@test "a thermostat panel" { recipe 'A thermostat panel' 5; }

@test "a shopping list" { recipe 'A shopping list' 5; }

@test "a monitor of jobs" { recipe 'A monitor of jobs' 10; }

@test "a stock" { recipe 'A stock' 7; }

@test "a deploy board" { recipe 'A deploy board' 7; }

@test "chat" { recipe 'Chat' 6; }

@test "the page on trying automations" {
    page=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/Documentation/trying-automations.md
    writes_files < "$page"
    types_blocks < "$page"
    is "$typed" 15
}

@test "each recipe is typed" {
    is "$(grep '^## ' "$recipes" | cut -c4- | tr 'A-Z' 'a-z')" "$(sed -n 's/^@test "\(.*\)" { recipe .*/\1/p' "$BATS_TEST_FILENAME")"
}
