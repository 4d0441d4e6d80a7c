# Scripts/new-daemon: what it writes, and what it refuses. own-daemon.bats builds and runs it.

load support

setup() {
    project=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    make_place
}

teardown() { remove_place; }

refuses() { # message, word...
    run "$project/Scripts/new-daemon" "${@:2}"
    is "$status" 2
    is "$output" "new-daemon: $1"
}

@test "the Makefile has the flags of Scripts/build" {
    "$project/Scripts/new-daemon" --path "$project" roomsd "$directory/package"
    for flag in --static-swift-stdlib '-Xswiftc -gnone' '-Xswiftc -enforce-exclusivity=unchecked' \
        '-Xswiftc -cross-module-optimization' '-Xlinker --no-export-dynamic'; do
        for file in "$project/Scripts/build" "$directory/package/Makefile"; do grep -qF -- "$flag" "$file"; done
    done
    make -n -C "$directory/package" build units test install > /dev/null
}

@test "the program is that of the example under other names" {
    "$project/Scripts/new-daemon" --path "$project" roomsd "$directory/package"
    cd "$directory/package"
    is "$(find . -type f | sort | paste -sd' ')" \
        "./.gitignore ./Makefile ./Package.swift ./README.md ./Sources/roomsd/Entries.swift ./Sources/roomsd/main.swift ./Tests/roomsdTests/EntriesTests.swift"
    run grep -rniE chore .
    is "$status" 1
    grep -qF ".package(name: \"binderd\", path: \"$project\")" Package.swift
}

@test "chores is the example itself" {
    "$project/Scripts/new-daemon" --path "$project" choresd "$directory/package"
    diff -r "$project/Examples/Chores/Sources" "$directory/package/Sources"
    diff -r "$project/Examples/Chores/Tests" "$directory/package/Tests"
    "$project/Scripts/new-daemon" --url https://example.org/of/bus.git --from 0.2.0 choresd "$directory/other"
    grep -qF '.package(url: "https://example.org/of/bus.git", from: "0.2.0")' "$directory/other/Package.swift"
    grep -qF 'package: "bus"' "$directory/other/Package.swift"
}

@test "names and places that cannot be are refused, and nothing is written" {
    cd "$directory"
    rule="1 to 31 small letters and digits, beginning with a letter, such as choresd"
    for name in '' a/b Chores 1x rooms-d "$(printf 'a%.0s' {1..32})"; do
        refuses "'$name' cannot be the name of a daemon: $rule" "$name"
    done
    refuses "'letd' cannot be the name of a daemon, because 'let' has a meaning in the program; choose another name" letd
    refuses "'cellsd' would have the service 'cells', which every daemon has; choose another name" cellsd
    refuses "missing argument NAME, such as choresd; see 'Scripts/new-daemon --help'"
    refuses "unexpected argument 'c'" roomsd b c
    refuses "unknown option '--nothing'; see 'Scripts/new-daemon --help'" --nothing
    refuses "$directory is not the repository of binderd" --path "$directory" roomsd there
    mkdir full && touch full/file
    refuses "full exists and is not empty" roomsd full
    is "$(ls)" full
}
