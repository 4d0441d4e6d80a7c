# binder-web: the page for browsers. The tests are in Tests/web; those of the page run in headless Chromium.

# Runs the tests of a class, and shows what has failed.
web() { # module.Class
    cd "$BATS_TEST_DIRNAME/../web" || return
    # Debian's interpreter, for which its packages are.
    BINDERD_BIN=${BINDERD_BIN:-$BATS_TEST_DIRNAME/../../.build/debug} /usr/bin/python3 -m unittest --quiet --buffer "$1" 3>&-
}

@test "a refused request never reaches the daemon, and gets a page that says why" { web test_attacks.Refusals; }

@test "an admitted browser cannot harm binder-web or the daemon" { web test_attacks.Sockets; }

@test "behind a proxy, only that proxy names the user, and the daemon maps the user to a role" { web test_attacks.Proxies; }
