#!/usr/bin/env bats
# Connections that survive the death of the daemon.

bats_require_minimum_version 1.5.0

@test "a kill at each system call of a turn: each request is answered once, or the connection has ended" {
    command -v gcc > /dev/null || skip "no gcc"
    project=$BATS_TEST_DIRNAME/../..
    export BINDERD=${BINDERD_BIN:-$project/.build/debug}/binderd TMPDIR=$BATS_TEST_TMPDIR
    run -0 "$project/Scripts/kill-turns" 200
    echo "$output"
    [[ ${lines[0]} == 20[0-9]" kills in "* ]]
}
