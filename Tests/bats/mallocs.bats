#!/usr/bin/env bats
# What a request allocates on the loop, counted in the running daemon.

bats_require_minimum_version 1.5.0

setup_file() {
    export project=$BATS_TEST_DIRNAME/../..
    export counter=$BATS_FILE_TMPDIR/count.so
    gcc -shared -fPIC -O2 -Wall -Wextra -Werror -o "$counter" "$project/Tests/mallocs/count.c"
}

# Counts the allocations for each request, and compares them with the limit.
costs() { # limit request
    [ -n "${BINDERD_BIN:-}" ] || skip "the numbers hold for a release build; set BINDERD_BIN"
    run -0 "$project/Tests/mallocs/count" "$counter" "$BINDERD_BIN/binderd" "$2" "$3"
    echo "$output, at most $1"
    awk -v limit="$1" 'END { exit !($1 + 0 <= limit) }' <<< "$output"
}

set='"method":"cells.set","params":{"name":"n%d","value":"a text that does not fit into the small form of a string"}'

# One allocation for the bytes of 32 requests that are read together is 0.03 for each.
@test "a get allocates nothing" {
    costs 0.05 "$set" '"method":"get","params":{"source":"cells/n%d"}'
}

# The rare parts of a call are in one object, so that those of all others are small.
@test "a get with options allocates the parts that other calls have not" {
    costs 1.2 "$set" '"method":"get","params":{"source":"cells/n%d","_meta":{"timeout_ms":5000}}'
}

@test "a ping allocates nothing" {
    costs 0.05 '"method":"ping"' '"method":"ping"'
}

# The value, which stays, and what each turn of the loop needs for its events together.
@test "a set allocates its value, and less than once more" {
    costs 1.9 "$set" "$set"
}
