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

@test "it starts for oneself with an address that works once, and says why it cannot" { web test_start.Start; }

@test "the page shows values, their past and boards, and only as text" { web test_page.Values; }

@test "the page shows events as they come, with filters" { web test_page.Log; }

@test "each method has a form, which checks what is typed" { web test_page.Forms; }

@test "every control has a role and a name, and the page works by keyboard from 360 pixels to 4K" { web test_page.Access; }

@test "every view is opened in the page, and every intent used" { web test_views.Views; }

@test "what is slow to arrive says so in the page, until it is there" { web test_loading.Loading; }

@test "kills of the daemon and of binder-web lose and double nothing" { web test_kills.Kills; }
