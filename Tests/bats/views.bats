# The views of the services in a terminal of 80 columns and 24 lines.

load support

setup() {
    make_place
    start_daemon
}

teardown() { remove_place; }

view() { # words of bindctl open...
    # The tmux server of the previous view may still be shutting down.
    eventually tmux -S "$directory/tmux" -f /dev/null new-session -d -s view -x 80 -y 24 "bindctl open $*" 3>&- \
        2> "$directory/err"
    background+=("$(tmux -S "$directory/tmux" display-message -p '#{pid}')")
    eventually shows "^$1"
}

shows() { tmux -S "$directory/tmux" capture-pane -p -t view | grep -qE -e "$1"; } # pattern
keys() { tmux -S "$directory/tmux" send-keys -t view "$@"; }                     # key...

@test "a search finds as one types, and opens what is found: a thread, a room at the message" {
    bindctl call threads.start name=Teatime
    bindctl call threads.post thread:=1 body='green 日本茶 and teabags'
    bindctl call users.log_in name=kim
    bindctl call chat.create name=lobby as=kim
    for i in {1..60}; do
        echo "{\"method\":\"chat.send\",\"params\":{\"room\":1,\"as\":\"kim\",\"text\":\"message $i$([ "$i" != 3 ] || echo ' about teabags')\"}}"
    done | bindctl pipe > "$directory/sent"
    view search
    eventually shows '^> term'
    keys teab
    eventually shows 'threads/1/1 +Teatime' # without Enter
    keys ag
    eventually shows '^results \(2\)'
    keys C-u teat
    eventually shows '^results \(1\)'
    keys Enter
    eventually shows '^search › thread$'
    eventually shows 'green 日本茶 and teabags +0$'
    keys Escape
    eventually shows '  l like '
    keys l
    eventually shows 'teabags +1$'
    keys Escape
    eventually shows '^> term +teat$'
    keys C-u about
    eventually shows 'chat/1/3 +lobby, kim'
    keys Enter
    eventually shows '^search › login$'
    keys Enter # chooses kim
    eventually shows '^search › room$'
    eventually shows '^> .* message 3 about teabags'
    eventually shows '^> text' # the field is open
    keys Escape
    eventually shows '^enter send… '
    keys Escape
    eventually shows '^> term +about$'
}

@test "people, a person, threads, things to do and a profile are looked at and changed" {
    view people
    keys c
    eventually shows '^> name'
    keys Kim Enter '#ff0000' Enter
    eventually shows '^> Kim +#ff0000'
    keys c
    eventually shows '^> name *$' # not the previous name
    keys Escape Enter
    eventually shows '^people › person$'
    keys e # reverse name
    eventually shows '^name +miK$'
    eventually shows '^> Kim$'
    eventually shows '  m remove( |$)' # last
    keys q
    view threads
    keys s Tea Enter
    eventually shows '^> Tea +0'
    keys Enter
    eventually shows '^threads › thread$'
    keys "$(printf 'word %.0s' {1..40})end" Enter
    eventually shows '^ .*word word end'
    keys Escape Space
    eventually shows '^author +[0-9]+$'
    keys Escape q
    view todo
    keys a milk Enter
    eventually shows '^> milk +no$'
    keys a tea Enter
    eventually shows '^  tea +no$'
    keys Enter
    eventually shows '^> milk +yes$'
    keys c
    eventually shows '^clear done todo\?$'
    keys y
    eventually shows '^> tea +no$'
    keys r C-u bread Enter
    eventually shows '^> bread +no$'
    keys e y
    eventually shows '^todo \(0\)$'
    keys q
    bindctl call users.log_in name=kim
    view profile as=kim
    keys Enter
    eventually shows '^profile › edit profile$'
    eventually shows '^> full name'
    keys 'Kim 김' Enter 'about me' Enter
    eventually shows '^full name +Kim 김$'
    keys Enter
    eventually shows '^profile › edit profile$'
    eventually shows '^> full name +Kim 김'
    keys '?' # is text here
    eventually shows '^> full name +Kim 김\?'
    keys Escape '?'
    eventually shows '^  s +save \(full name, about\)$'
    keys Escape Escape q
}

@test "feeds and a feed say what has come of them" {
    bindctl call feeds.subscribe url=http://127.0.0.1:1/feed.xml id=near
    view feeds
    eventually shows '^> near .* failed '
    keys a
    eventually shows '^> url *$' # not the URL of the other feed
    keys Escape Enter
    eventually shows '^feeds › feed$'
    eventually shows '^episodes \(0\)$'
    eventually shows '^m mark played… .* u unsubscribe '
    keys u
    eventually shows '^unsubscribe near\?$'
    keys n u y
    eventually shows '^feeds \(0\)$'
}

@test "pasted text goes into a form only, and a view that ends says so" {
    bindctl call users.log_in name=kim
    bindctl call chat.create name=lobby as=kim
    view room room=lobby as=kim
    eventually shows '^> text'
    keys Escape
    eventually shows '^enter send… '
    pastes $'hello\nlook at this\nquick\n'
    keys Enter
    eventually shows '^> text *$' # no key of the paste was a command
    pastes $'hello\nlook at this\nquick\n'
    eventually shows '^> text +hello look at this quick$'
    keys Enter
    eventually shows 'kim +hello look at this quick$'
    eventually shows '^> text *$'
    keys "$(printf 'x%.0s' {1..100})" # exceeds the limit
    pastes "$(printf 'y%.0s' {1..4000})"
    keys Enter
    eventually shows "^'text' has at most 4000 bytes"
    eventually shows '^ +y+$' # the text stays
    keys C-u hel
    eventually shows '^> text +hel$'
    bindctl call chat.remove room=lobby as=kim
    eventually shows 'not sent: hel$'
    keys lo Enter q
    eventually shows 'not sent: hel$'
    keys Escape
    eventually is_gone
}

pastes() { # text
    tmux -S "$directory/tmux" set-buffer "$1"
    tmux -S "$directory/tmux" paste-buffer -p -t view
}

is_gone() { ! tmux -S "$directory/tmux" has-session -t view 2> /dev/null; }
