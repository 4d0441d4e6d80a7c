#!/usr/bin/env bats
# Connections that survive the death of the daemon.

bats_require_minimum_version 1.5.0

load support

@test "a kill at each system call of a turn: each request is answered once, or the connection has ended" {
    command -v gcc > /dev/null || skip "no gcc"
    project=$BATS_TEST_DIRNAME/../..
    export BINDERD=${BINDERD_BIN:-$project/.build/debug}/binderd TMPDIR=$BATS_TEST_TMPDIR
    run "$project/Scripts/kill-turns" 200
    # It says what went wrong, and how to repeat it.
    echo "$output"
    is "$status" 0
    [[ ${lines[0]} == 20[0-9]" kills in "* ]]
}

@test "a kill at some system calls on files: each acknowledged command is there once" {
    command -v gcc > /dev/null || skip "no gcc"
    project=$BATS_TEST_DIRNAME/../..
    export BINDERD=${BINDERD_BIN:-$project/.build/debug}/binderd TMPDIR=$BATS_TEST_TMPDIR
    run "$project/Scripts/kill-journal" 150
    echo "$output"
    is "$status" 0
    [[ $output == *" kills in "* ]]
}
