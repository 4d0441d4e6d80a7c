# A package of Scripts/new-daemon: it builds, its test passes, it runs, also under systemd, and bindctl reaches it by name.
# The build is kept in .build/new-daemon.

load support

setup_file() {
    project=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    place=$project/.build/new-daemon
    export project place
    mkdir -p "$place"
    rm -rf "$place/package"
    "$project/Scripts/new-daemon" --path "$project" roomsd "$place/package"
    swift build --package-path "$place/package" --scratch-path "$place/build" --build-tests --quiet
}

setup() {
    make_place
    PATH=$place/build/debug:$PATH
}

teardown() { remove_place; }

@test "its test passes" {
    swift test --package-path "$place/package" --scratch-path "$place/build" --skip-build
}

@test "the daemon serves its methods, sources and view, and bindctl -n reaches it" {
    unset BINDER_SOCKET
    export XDG_RUNTIME_DIR=$directory
    mkdir "$directory/roomsd"
    socket=$directory/roomsd/bus.sock
    roomsd --config /dev/null --socket "$socket" --journal "$directory/journal.db" 2>> "$directory/log" 3>&- &
    daemon=$!
    eventually bindctl -n roomsd ping > /dev/null 2>&1
    is "$(bindctl -n roomsd call rooms.add title=milk)" 1
    is "$(bindctl -n roomsd get -r rooms/1)" milk
    [[ $(bindctl -n roomsd open rooms < /dev/null) == *milk* ]]
    run bindctl -n roomsd call rooms.finish id:=7
    is "$status" 4
    is "$(bindctl --socket "$socket" call -r rooms.finish id:=1)" milk
    [[ $(bindctl -n roomsd ping) == *": roomsd "* ]]
    is "$(bindctl -n roomsd events -n 2 -F '{event.type}' | paste -sd' ')" "rooms.added rooms.done"

    # A private one of a session is this program too.
    is "$(bindctl -n roomsd session -- bindctl call rooms.add title=tea)" 1

    # binderd would not know the events.
    kill "$daemon"
    wait "$daemon"
    run binderd --config /dev/null --socket "$directory/b.sock" --journal "$directory/journal.db"
    is "$status" 78
    [[ $output == *"is the journal of roomsd, not of binderd"* ]]
}

@test "the page shows its view, and people use it there" {
    cd "$BATS_TEST_DIRNAME/../web"
    OWN_DAEMON=$place/build/debug/roomsd BINDERD_BIN=${BINDERD_BIN:-$project/.build/debug} \
        /usr/bin/python3 -m unittest --quiet --buffer test_own_daemon.OwnDaemon 3>&-
}

@test "systemd runs it under its own units and its own user" {
    mkdir -p "$place/package/.build/bin"
    cp "$place/build/debug/roomsd" "$place/package/.build/bin/"
    make -C "$place/package" -o build units
    for kind in service socket; do [ -s "$place/package/.build/units/roomsd.$kind" ]; done
    cd "$directory"
    sed "s|/usr/local/bin/|$place/build/debug/|" "$place/package/.build/units/roomsd.service" > roomsd.service
    cp "$place/package/.build/units/roomsd.socket" .
    run systemd-analyze verify --man=no ./roomsd.*
    is "$status$output" 0
    systemd-analyze security --offline=true --threshold=5 --no-pager ./roomsd.service
    run "$project/Tests/systemd/real-systemd.sh" --bind "$project" --bind "$BINDERD_BIN" \
        env "BINDERD_BIN=$BINDERD_BIN" "PACKAGE=$place/package" bash "$project/Tests/systemd/guest/own-daemon.sh"
    [ "$status" -ne 77 ] || skip "${lines[-1]}"
    echo "$output"
    [ "$status" -eq 0 ]
}
