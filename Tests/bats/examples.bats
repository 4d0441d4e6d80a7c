# Programs outside this package use its public libraries.

setup() { examples=$BATS_TEST_DIRNAME/../../Examples; }

@test "the examples build from the public API alone, and run" {
    swift build --package-path "$examples"
    run "$examples/.build/debug/Profile"
    [ "$output" = $'profile of Ana\nfriends: loading\nfriends: Ben, Cy\nlogged in: false' ]
    run "$examples/.build/debug/Temperature"
    [ "$output" = $'68.0 °F, 77.0 °F\nc c\n2 lines\n3 lines\n3 lines at the end' ]
}
