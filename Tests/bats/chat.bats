# Two people at two terminals, and a script.

load support

setup() {
    make_place
    start_daemon
}

teardown() { remove_place; }

# Opens the chat in a terminal of 90 columns.
start_chat() { # terminal
    tmux -S "$directory/tmux" -f /dev/null new-session -d -s "$1" -x 90 -y 20 "bindctl open chat" 3>&-
    background+=("$(tmux -S "$directory/tmux" display-message -p '#{pid}')")
    eventually shows "$1" '^chat › login'
}

shows() { tmux -S "$directory/tmux" capture-pane -p -t "$1" | grep -qE -e "$2"; } # terminal pattern
keys() { tmux -S "$directory/tmux" send-keys -t "$1" "${@:2}"; }                  # terminal key...

# Logs in under a new name: the field is open.
log_in() { # terminal name
    eventually shows "$1" '^> name'
    keys "$1" "$2" Enter
    eventually shows "$1" '^chat › main › rooms'
}

@test "two people take names, make a room, talk in it, and leave" {
    start_chat one
    start_chat two
    log_in one kim
    log_in two lee
    eventually shows one '^here +kim lee$'

    keys one c
    eventually shows one '^> name'
    keys one lobby Enter 'all and everything' Enter
    eventually shows two 'lobby +0 +1 +no +all and everything'

    keys two Enter # enters the room
    eventually shows two '^members +kim\* lee\*$'
    eventually shows two '^> text' # the field is open
    keys two 'hello kim' Enter
    eventually shows one 'lobby +1 +2 +yes'
    keys one Enter
    eventually shows one 'lee +hello kim'
    eventually shows one '^> text'
    keys one 'hello lee' Enter 'how are you' Enter
    eventually shows two 'kim +how are you'

    # A script of the same user sends a message too.
    bindctl call chat.send room=lobby as=kim text='the backup is done'
    eventually shows two 'kim +the backup is done'
    all_read() { [ "$(bindctl call chat.unread as=lee -r)" = '[{"id":1,"name":"lobby","unread":0}]' ]; }
    eventually all_read

    # Leave: the other user sees the new list of members.
    keys one Escape
    eventually shows one ' d describe'
    keys one Escape
    eventually shows one '^chat › main › rooms  '
    keys one Tab
    eventually shows one '^chat › main › profile'
    keys one l
    eventually shows one '^> kim' # Enter in the empty field chooses an existing name
    eventually shows two '^members +kim lee\*$'
    keys one Enter
    eventually shows one '^chat › main › rooms'
    eventually shows two '^members +kim\* lee\*$'
    keys one q
    eventually shows two '^members +kim lee\*$'
}

@test "after a restart of the daemon everybody is where they were, with what they were typing" {
    start_chat one
    start_chat two
    log_in one kim
    log_in two lee
    keys one c
    eventually shows one '^> name'
    keys one lobby Enter Enter
    eventually shows two 'lobby +0 +1 +no'
    keys one Enter
    eventually shows one '^members +kim\*$'
    eventually shows one '^> text'
    keys one 'are you'
    eventually shows one '^> text +are you'
    for signal in KILL TERM; do
        kill -"$signal" "$daemon"
        wait "$daemon" || true
        eventually shows one 'waiting for the daemon'
        keys one ' there'
        start_daemon
        eventually shows one '^chat › main › rooms › room'
        eventually shows one '^> text +are you( there)+'
        eventually shows two '^here +kim lee$'
        eventually shows two '^chat › main › rooms  '
        not_waiting() { ! shows one 'waiting for the daemon' && ! shows two 'waiting for the daemon'; }
        eventually not_waiting
    done
    keys one Enter
    eventually shows one 'kim +are you there there'
    # The other user was in the list of rooms, and enters from there.
    keys two Enter
    eventually shows two 'kim +are you there there'
}

@test "a name that is being typed is still there after a restart of the daemon" {
    start_chat one
    eventually shows one '^> name'
    keys one ki
    eventually shows one '^> name +ki'
    kill_daemon
    eventually shows one 'waiting for the daemon'
    start_daemon
    here_again() { ! shows one 'waiting for the daemon'; }
    eventually here_again
    keys one m Enter
    eventually shows one '^chat › main › rooms'
}
