# The clients of Protocol/clients work with the real daemon, also across crashes. Each runs the same scenarios.

load support

conformance=$BATS_TEST_DIRNAME/../../Protocol/clients/conformance/run

# Runs the scenarios of languages, and shows those that fail.
conforms() { # languages...
    local status=0
    command -v "$1" > /dev/null || { echo "$1 is missing; see Scripts/packages"; return 1; }
    shift
    BINDERD_BIN=${BINDERD_BIN:-$BATS_TEST_DIRNAME/../../.build/debug} "$conformance" "$@" > "$BATS_TEST_TMPDIR/tap" || status=$?
    grep -A 20 '^not ok' "$BATS_TEST_TMPDIR/tap" || true
    [ "$(grep -c '^ok' "$BATS_TEST_TMPDIR/tap")" -ge 5 ] && [ "$status" = 0 ]
}

@test "the Python client" { conforms python3 python; }

@test "the JavaScript client, over a Unix socket and as in a browser" { conforms node javascript browser; }

@test "the Go client" { conforms go go; }

@test "the Swift client with tasks" { conforms swift swift; }

@test "the shell client" { conforms dash shell; }

@test "the command line, as far as it follows sources and events" { conforms python3 bindctl; }

@test "the conversation in the README of the protocol is the transcript that the tests play" {
    # A request of the README also has the epoch, which a transcript cannot know.
    local wanted found same='s/"time":"[^"]*"/"time":"…"/; s/"epoch":"cb6c61b0"/"epoch":"…"/; /^->/s/,"epoch":"…"}}$/}}/'
    wanted=$(grep -E '^(->|<-) [^(]' "$BATS_TEST_DIRNAME/../../Protocol/transcripts/conversation.txt")
    found=$(sed -n '/^## A conversation/,/^## Reference/p' "$BATS_TEST_DIRNAME/../../Protocol/README.md" |
        awk '/^```/ { inside = !inside; next } inside' | sed -e ':next' -e 'N; s/\n   //; t next' -e 'P; D' | sed "$same")
    is "$found" "$wanted"
    [ "$(wc -l <<< "$found")" -ge 20 ]
}
