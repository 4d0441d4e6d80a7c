# What the project installs and hands out: manual pages, package, release, backups.

load support

setup_file() {
    project=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    export project
    export BINDERD_BIN=${BINDERD_BIN:-$project/.build/debug}
    export manuals=$BATS_FILE_TMPDIR/manuals
    mkdir "$manuals"
    "$project/Scripts/manuals" "$manuals"
}

setup() {
    make_place
    cd "$project"
}

teardown() { remove_place; }

# Prints a manual page without formatting, as one line per paragraph.
page() { mandoc -Tutf8 -O width=1000 "$manuals/$1" | col -b | tr -s ' \t' ' '; }

# Succeeds if a page has all lines of stdin as words.
page_has() { # page
    local word missing=
    page "$1" > "$directory/page"
    while IFS= read -r word; do
        [ -z "$word" ] || grep -qwF -e "$word" "$directory/page" || missing+=" $word"
    done
    is "$missing" ""
}

@test "mandoc has nothing to say about the manual pages" {
    cd "$manuals"
    is "$(LC_ALL=C ls | paste -sd' ')" "bindctl.1 binder-protocol.7 binder-web.8 binder.conf.5 binder.service.5 binder.view.5 binderd.8"
    run mandoc -Tlint -Wall bindctl.1 binder.conf.5 binder.view.5 binder.service.5 binder-protocol.7 binderd.8 binder-web.8
    is "$output" ""
    [ "$status" -eq 0 ]
    for file in *; do
        is "$(LC_ALL=C grep -n '[^ -~]' "$file" | head -3)" ""
        is "$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$file" 2>&1 > /dev/null)" ""
    done
}

@test "bindctl(1) has every command, option and topic of the help" {
    bindctl help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' > "$directory/names"
    [ "$(wc -l < "$directory/names")" -gt 30 ]
    bindctl help | sed '/help TOPIC/,$d' | sed -n 's/^  \([a-z][a-z]*\)  .*/bindctl \1/p' | page_has bindctl.1
    bindctl help | sed '1,/help TOPIC/d' | sed -n 's/^  \([a-z][a-z]*\)  .*/\U\1/p' | sed 's/^EXIT$/EXIT STATUS/' | page_has bindctl.1
    while read -r name; do bindctl help "$name"; done < "$directory/names" | grep -oE -- '--[a-z-]+' | sort -u > "$directory/options"
    [ "$(wc -l < "$directory/options")" -gt 30 ]
    page_has bindctl.1 < "$directory/options"
    # An option that several commands share is in the section of each.
    for name in set call atomic; do
        sed -n "/^\.Ss \"$name\"/,/^\.Ss/p" "$manuals/bindctl.1" | grep -qxF '.It Fl \-settle' || missing+=" $name"
    done
    is "${missing-}" ""
}

@test "binder-web(8) has every option and exit code of the help" {
    binder-web --help | grep -o -- '--[a-z-]*' | sort -u > "$directory/words"
    [ "$(wc -l < "$directory/words")" -gt 7 ]
    page_has binder-web.8 < "$directory/words"
    is "$(page binder-web.8 | sed -n '/^EXIT STATUS/,/^SEE ALSO/s/^ *\([0-9][0-9]*\) .*/\1/p' | paste -sd' ')" "0 64 69"
}

@test "binderd(8) has every option, exit code and default path of the help" {
    { binderd --help | grep -o -- '--[a-z-]*'; binderd --help | grep -oE '/(etc|var|run)/[a-z/.]*'; } | sort -u > "$directory/words"
    [ "$(wc -l < "$directory/words")" -gt 20 ]
    page_has binderd.8 < "$directory/words"
    is "$(page binderd.8 | sed -n '/^EXIT STATUS/,/^SEE ALSO/s/^ *\([0-9][0-9]*\) .*/\1/p' | paste -sd' ')" "0 64 69 74 78"
    # The paths of the page are those of the program.
    page binderd.8 | sed -n '/^FILES/,/^EXIT STATUS/p' | grep -oE '/(etc|var|run)/[a-z./]*' > "$directory/paths"
    while read -r path; do binderd --help | grep -qF "${path%/*.d}"; done < "$directory/paths"
}

@test "binder.conf(5) has every setting of the installed configuration" {
    grep -o '"[a-z_]*":' Configuration/binder.conf | tr -d '":' | grep -vx 'allow\|deny' | sort -u > "$directory/settings"
    [ "$(wc -l < "$directory/settings")" -gt 40 ]
    page binder.conf.5 > "$directory/page"
    missing=
    while read -r setting; do
        grep -qE "^ *$setting( |$)" "$directory/page" || missing+=" $setting"
    done < "$directory/settings"
    is "$missing" ""
    page binder.conf.5 | grep -A1 '^ *subs$\|^ *subs ' | grep -q 'Default 256'
}

@test "binder-protocol(7) has every method, source, error and limit of the daemon" {
    start_daemon
    [ "$(bindctl describe --names | wc -l)" -gt 100 ]
    bindctl describe --names | page_has binder-protocol.7
    bindctl call rpc.discover -r | jq -r '.methods[].name' | page_has binder-protocol.7
    bindctl errors | awk '{ print $2, $1 }' | page_has binder-protocol.7
    [ "$(bindctl errors | wc -l)" -gt 20 ]
    bindctl stats --limits -j | jq -r '.limits | keys[]' | page_has binder-protocol.7
    for service in $(bindctl services | cut -f1); do
        bindctl describe "$service" -j | jq -r '.service as $s | .sources | keys[] | "\($s)/\(.)"'
    done | grep -v '\*' | page_has binder-protocol.7
}

@test "the units name pages that exist" {
    pages=$(grep -h '^Documentation=' systemd/*/* | sed 's/^Documentation=//; s/ /\n/g' | sort -u)
    [ -n "$pages" ]
    for page in $pages; do
        name=${page#man:}
        [ -s "$manuals/$(sed 's/(\(.\))/.\1/' <<< "$name")" ]
    done
}

@test "an unknown manual page is a wrong command line" {
    run bindctl help --man nothing
    [ "$status" -eq 2 ]
    [[ $output == *"no manual page 'nothing': there are bindctl, binderd, binder.conf, binder.view, binder.service, binder-protocol, binder-web"* ]]
}

# Makes the package once for all tests, with a quick compression.
make_package() {
    package=$BATS_FILE_TMPDIR/package
    [ ! -d "$package" ] || return 0
    DEB_COMPRESSION=gzip Scripts/make-deb "$package.new" > /dev/null
    mv "$package.new" "$package"
}

@test "lintian has nothing to say about the package" {
    make_package
    [[ $BINDERD_BIN != */debug ]] || skip "debug programs need the libraries of Swift"
    run lintian --fail-on error,warning --allow-root "$package"/*.deb
    is "$output" ""
    [ "$status" -eq 0 ]
}

@test "the package has the version of the programs, and its scripts are right" {
    make_package
    is "$(dpkg-deb -f "$package"/*.deb Version)" "$(bindctl --version | cut -d' ' -f2)"
    is "$(grep -m1 '^## ' CHANGELOG.md | cut -d' ' -f2 | tr -d ,)" "$(dpkg-deb -f "$package"/*.deb Version)"
    for script in postinst prerm postrm; do sh -n "Packaging/debian/$script"; done
    # No file names a place outside the package.
    dpkg-deb -x "$package"/*.deb "$directory/tree"
    is "$(grep -rl /usr/local "$directory/tree" --include='*.conf' --include='*.service' --include='README.md')" ""
    for dependency in libuv1 libsqlite3-0 libexpat1 libcrypt1; do
        [[ $(dpkg-deb -f "$package"/*.deb Depends) == *"$dependency"* ]]
    done
}

@test "the package of binder-web needs the daemon, and lintian has nothing to say about it" {
    DEB_COMPRESSION=gzip Scripts/make-deb --web "$directory/web" > /dev/null
    for dependency in 'binderd (>= 0.2.0)' libwebsockets17 libwebsockets-evlib-uv libjs-chart.js; do
        [[ $(dpkg-deb -f "$directory/web"/*.deb Depends) == *"$dependency"* ]]
    done
    for script in postinst prerm postrm; do sh -n "Packaging/binder-web/$script"; done
    # The charts are those of the package that it needs.
    dpkg-deb -c "$directory/web"/*.deb | grep -q ' ./usr/share/binder-web/client/connection.js$'
    run ! grep -q charts <(dpkg-deb -c "$directory/web"/*.deb)
    # No file is in both packages.
    make_package
    is "$(for file in "$package"/*.deb "$directory/web"/*.deb; do dpkg-deb -c "$file" | awk '/^-/ { print $6 }'; done | sort | uniq -d)" ""
    [[ $BINDERD_BIN != */debug ]] || return 0
    run lintian --fail-on error,warning --allow-root "$directory/web"/*.deb
    is "$output" ""
}

@test "the same programs give the same package, at any time, by any user" {
    make_package
    touch systemd/system/binderd.service
    (umask 077 && TZ=Asia/Tokyo LC_ALL=C DEB_COMPRESSION=gzip Scripts/make-deb "$directory/again" > /dev/null)
    cmp "$package"/*.deb "$directory"/again/*.deb
}

@test "a release has the sources, the programs, the package and their checksums" {
    git rev-parse HEAD > /dev/null || skip "no commit to archive"
    DEB_COMPRESSION=none XZ_OPT=-0 Scripts/make-release "$directory/release" > /dev/null
    cd "$directory/release"
    sha256sum --check --quiet SHA256SUMS
    is "$(wc -l < SHA256SUMS)/$(find . -type f | wc -l)" 4/5
    tar -xf binderd-*-linux-*.tar.xz
    cd binderd-*-linux-*/
    # The tarball of the programs installs without anything else.
    DESTDIR=$directory/root BINDERD_BIN='' Scripts/install > /dev/null
    [ -x "$directory/root/usr/local/bin/binderd" ]
    [ -s "$directory/root/usr/local/share/man/man8/binderd.8" ]
}

@test "the container recipe starts the daemon with options that exist" {
    make_package
    entry=$(sed -n 's/^ENTRYPOINT //p' Packaging/Containerfile)
    mapfile -t words < <(jq -r '.[]' <<< "$entry")
    is "${words[0]}" binderd
    "${words[@]}" --check-config --config Configuration/binder.conf > /dev/null
    for path in /run/binder /var/lib/binder; do grep -q "^VOLUME.*\"$path\"" Packaging/Containerfile; done
    grep -q '^COPY binderd_\*.deb' Packaging/Containerfile
}

# Makes backups in a directory, each after a change.
back_up_after() { # value...
    for value; do
        bindctl set cells/n "$value" > /dev/null
        bindctl journal backup "$directory/b" --keep 3 >> "$directory/shown"
    done
}

positions() { ls "$directory/b" | sed 's/.*-\([0-9]*\)\.db/\1/' | sort -n | paste -sd' '; }

@test "backups in a directory: the oldest go, and no other file" {
    start_daemon
    mkdir "$directory/b"
    touch "$directory/b/notes" "$directory/b/binder-x.db"
    back_up_after 1 2 3 4 5
    rm "$directory/b/notes" "$directory/b/binder-x.db"
    is "$(positions)" "3 4 5"
    is "$(grep -c '^removed ' "$directory/shown")" 2
    for file in "$directory"/b/*; do
        bindctl journal verify --file "$file" > /dev/null
        is "$(stat -c %a "$file")" 600
    done
    # Without --keep nothing is removed.
    bindctl set cells/n 6
    bindctl journal backup "$directory/b" > /dev/null
    is "$(positions)" "3 4 5 6"
    bindctl journal backup "$directory/b" --keep 1 -j | jq -e '.last == 6 and (.removed | length) >= 3 and .others == 0'
}

@test "a backup that fails leaves the others, and no file" {
    start_daemon
    mkdir "$directory/b"
    back_up_after 1 2 3
    before=$(ls -i "$directory/b")
    mkdir "$directory/bad"
    echo 'no journal' > "$directory/bad/journal.db"
    run bindctl journal backup "$directory/b" --keep 1 --file "$directory/bad/journal.db"
    [ "$status" -eq 1 ]
    is "$(ls -iA "$directory/b")" "$before"
    # What a killed backup has left behind is replaced.
    echo half > "$directory/b/.binder-backup.db"
    bindctl set cells/n 4
    bindctl journal backup "$directory/b" --keep 3 > /dev/null
    is "$(ls -A "$directory/b" | wc -l)/$(positions)" "3/2 3 4"
}

@test "backups of a new journal displace none of the old one" {
    start_daemon
    mkdir "$directory/b"
    back_up_after 1 2 3
    before=$(ls "$directory/b")
    kill_daemon
    rm "$directory"/journal.db*
    start_daemon
    back_up_after 1 2 3 4
    is "$(ls "$directory/b" | grep -xF "$before")" "$before"
    is "$(ls "$directory/b" | wc -l)" 6
    run --separate-stderr bindctl journal backup "$directory/b" --keep 3
    is "$stderr" "bindctl: $directory/b has 3 backups of other journals, which are never removed"
}

@test "two backups to a directory do not run at once, and wrong options are refused" {
    start_daemon
    mkdir "$directory/b"
    exec 8< "$directory/b"
    flock 8
    run bindctl journal backup "$directory/b"
    is "$status $output" "1 bindctl: another backup to $directory/b is running"
    flock -u 8
    run bindctl journal backup "$directory/b" --keep 0
    is "$status" 2
    run bindctl journal backup "$directory/c" --keep 2
    is "$status $output" "1 bindctl: --keep needs a directory, but $directory/c is none; create it first"
    is "$(ls -A "$directory/b")" ""
}
