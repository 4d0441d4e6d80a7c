# A daemon that is built without the applications.
# WITHOUT_APPS is the directory with its binderd.

load support

setup() {
    make_place
}

teardown() { remove_place; }

@test "a daemon without the applications serves the features, and keeps what the applications have written" {
    start_daemon
    bindctl set cells/lamp true
    bindctl call todo.add title=milk > "$directory/no"
    kill -TERM "$daemon"
    wait "$daemon"

    local all=$PATH
    PATH=$WITHOUT_APPS:$PATH
    start_daemon
    PATH=$all
    is "$(bindctl get cells/lamp)" true
    bindctl set cells/lamp false
    bindctl call lists.append name=shop value=bread > "$directory/no"
    is "$(bindctl get lists/shop)" '["bread"]'
    run --separate-stderr bindctl call todo.add title=eggs
    is "$status" 4
    [[ $(bindctl services) != *todo* ]]
    kill -TERM "$daemon"
    wait "$daemon"

    start_daemon
    is "$(bindctl get cells/lamp)" false
    [[ $(bindctl get todo/1) == *milk* ]]
}
