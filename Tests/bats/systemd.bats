# The units: checked by systemd's own tools, and run by a real systemd in a container.

setup_file() {
    project=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export project
    export BINDERD_BIN=${BINDERD_BIN:-$project/.build/debug}
}

# Runs a script as root in a container; skips the test where that is impossible. It sees the directory $packages.
guest() { # name
    run "$project/Tests/systemd/real-systemd.sh" --bind "$project" --bind "$BINDERD_BIN" \
        ${packages:+--bind "$packages"} env "BINDERD_BIN=$BINDERD_BIN" "PACKAGES=${packages:-}" bash "$project/Tests/systemd/guest/$1.sh"
    [ "$status" -ne 77 ] || skip "${lines[-1]}"
    echo "$output"
    [ "$status" -eq 0 ]
}

# Copies the units with the real path of the program, so that `verify` finds it.
units() { # system or user
    mkdir -p "$BATS_TEST_TMPDIR/$1"
    for unit in $(ls "$project/systemd/$1"); do
        sed "s|/usr/local/bin/|$BINDERD_BIN/|" "$project/systemd/$1/$unit" > "$BATS_TEST_TMPDIR/$1/$unit"
    done
    cd "$BATS_TEST_TMPDIR/$1"
}

@test "systemd has nothing to say about the system units" {
    units system
    run systemd-analyze verify --man=no ./*
    [ "$status" -eq 0 ]
    [ -z "$output" ]
}

@test "systemd has nothing to say about the user units" {
    units user
    HOME=$BATS_TEST_TMPDIR XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR run systemd-analyze --user verify --man=no ./*
    [ "$status" -eq 0 ]
    [ -z "$output" ]
}

@test "systemd has nothing to say about the units that the program prints" {
    cd "$BATS_TEST_TMPDIR"
    for kind in service socket backup-service backup-timer; do
        name=binderd.$kind
        "$BINDERD_BIN/binderd" --print-unit "$kind" > "${name/.backup-/-backup.}"
    done
    run systemd-analyze verify --man=no ./*
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    "$BINDERD_BIN/binderd" --print-unit sysusers > sysusers.conf
    systemd-sysusers --root="$PWD/root" --dry-run "$PWD/sysusers.conf"
    mkdir -p user
    for kind in service socket; do "$BINDERD_BIN/binderd" --print-unit "user-$kind" > "user/binderd.$kind"; done
    cd user
    HOME=$BATS_TEST_TMPDIR XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR run systemd-analyze --user verify --man=no ./*
    [ "$status" -eq 0 ]
    [ -z "$output" ]
}

@test "the system service and its backup are exposed by 0.5 of 10 at most" {
    units system
    systemd-analyze security --offline=true --threshold=5 --no-pager ./binderd.service
    systemd-analyze security --offline=true --threshold=5 --no-pager ./binderd-backup.service
    systemd-analyze security --offline=true --threshold=5 --no-pager ./binder-web.service
}

@test "the service of a user is exposed by 2 of 10 at most" {
    units user
    export HOME=$BATS_TEST_TMPDIR XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR
    systemd-analyze --user security --offline=true --threshold=20 --no-pager ./binderd.service
}

@test "Scripts/install fills a directory for a package, and empties it" {
    DESTDIR=$BATS_TEST_TMPDIR/root PREFIX=/usr "$project/Scripts/install"
    cd "$BATS_TEST_TMPDIR/root"
    grep -q '^ExecStart=/usr/bin/binderd$' usr/lib/systemd/system/binderd.service
    [ -x usr/bin/binderd ]
    [ -x usr/bin/binder-web ]
    [ -s usr/share/binder-web/index.html ]
    [ -s usr/share/binder-web/client/connection.js ]
    [ -s usr/share/binder-web/charts/chunks/helpers.segment.mjs ]
    [ -s usr/share/doc/binderd/binder.conf.schema.json ]
    [ -s usr/share/doc/binderd/network.conf ]
    grep -q bindctl usr/share/bash-completion/completions/bindctl
    grep -q 'Nm bindctl' usr/share/man/man1/bindctl.1
    grep -q '^ExecStart=/usr/bin/bindctl' usr/lib/systemd/system/binderd-backup.service
    run env "DESTDIR=$PWD" PREFIX=/usr "$project/Scripts/install"
    [[ $output != *installed* ]]
    DESTDIR=$PWD PREFIX=/usr "$project/Scripts/install" --remove
    [ -z "$(find . -type f)" ]
}

@test "the first client starts the daemon, and no stop loses a value" { guest start; }

@test "the hardening leaves clients' names, measures and limits" { guest harden; }

@test "a reload notifies the manager, and clients stay" { guest reload; }

@test "killed outright, it comes back with all it has answered" { guest kill; }

@test "a daemon that hangs is ended by the watchdog and comes back" { guest watchdog; }

@test "a journal that cannot be used does not start it for ever" { guest damage; }

@test "members of the group connect, and nobody else" { guest access; }

@test "binder-web serves a reverse proxy, in its sandbox" { guest web; }

@test "the package of binder-web is off until somebody starts it, and has the whole page" {
    packages=$BATS_TEST_TMPDIR
    for word in '' --web; do DEB_COMPRESSION=none "$project/Scripts/make-deb" $word "$packages"; done
    guest web-package
}

@test "Scripts/install installs, brings up to date and takes away" { guest install; }

@test "a user's own service manager runs it" { guest user; }

@test "root restores a backup, and the service goes on with it" { guest restore; }

@test "the daily backup keeps seven, and an administrator restores one" { guest backup; }

@test "the package is installed, upgraded, removed and purged" {
    "$project/Tests/systemd/make-packages" "$BATS_TEST_TMPDIR"
    run "$project/Tests/systemd/test-package" / "$BATS_TEST_TMPDIR"
    [ "$status" -ne 77 ] || skip "${lines[-1]}"
    echo "$output"
    [ "$status" -eq 0 ]
}
