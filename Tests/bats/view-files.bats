# Views in files: checked, opened, followed and reloaded, as a user would.

load support

setup() {
    make_place
    cd "$directory"
    mkdir view.d
    echo '{}' > binder.conf
    start_daemon --config "$directory/binder.conf"
}

teardown() { remove_place; }

thermostat() {
    sed -n '/^# thermostat.view/,/^```/p' "$BATS_TEST_DIRNAME/../../Documentation/views-in-a-file.md" | grep -v '^```' > thermostat.view
    bindctl pipe > /dev/null << 'END'
{"method":"cells.set","params":["kitchen/temperature",20.43]}
{"method":"cells.set","params":["kitchen/wanted",21]}
{"method":"cells.set","params":["heater",true]}
{"method":"cells.set","params":["away",false]}
END
}

terminal() { # words of bindctl open...
    eventually tmux -S "$directory/tmux" -f /dev/null new-session -d -s view -x 80 -y 24 "bindctl open $*" 3>&- 2> "$directory/err"
    background+=("$(tmux -S "$directory/tmux" display-message -p '#{pid}')")
}

shows() { tmux -S "$directory/tmux" capture-pane -p -t view | grep -qE -e "$1"; } # pattern
keys() { tmux -S "$directory/tmux" send-keys -t view "$@"; }                     # key...

@test "a file is checked: all faults with line and column, and the exit code 5" {
    thermostat
    [ "$(bindctl view check thermostat.view)" = 'thermostat.view is valid' ]
    printf 'view "A"\ncells/a | ruond(1) ~> a\ngo -> cells.ad\n' > bad.view
    run -5 bindctl view check thermostat.view bad.view
    [ "$output" = "thermostat.view is valid
bad.view:2:11: no transformer 'ruond'; did you mean 'round'?
bad.view:3:7: no method 'cells.ad'; did you mean 'cells.add'?" ]
    printf 'view "A"\ngo -> deploy.start\n' > soon.view
    run -0 bindctl view check soon.view
    [ "${lines[0]}" = "warning: soon.view:2:7: no program has declared 'deploy.start'" ]
    run -5 bindctl open ./bad.view
    [[ "$output" == *"bindctl: ./bad.view:2:11: no transformer 'ruond'; did you mean 'round'?, and 1 more"* ]]
    run -2 bindctl open ./none.view
    [[ "$output" == *"'./none.view' cannot be read: No such file or directory"* ]]
    # Views that lead to each other.
    printf '%s\n' 'view "All."' 'choose => two name="a"' > one.view
    printf '%s\n' 'view "One." (name: text)' 'back => one' > two.view
    run -0 bindctl view check one.view two.view
    run -5 bindctl open one.view
    [[ "$output" == *"one.view:2:11: no view 'two'; give its file too: bindctl open one.view two.view" ]]
    printf '%s\n' '{"intent":"choose"}' '{"intent":"back","view":"1.1"}' | bindctl open one.view two.view > out
    grep -q '"opened":{.*"binder":"two"' out
    grep -q '"opened":{.*"binder":"one"' out
    echo 'x ~> y' >> two.view
    run -5 bindctl open ./one.view ./two.view
    [[ "$output" == *"./two.view:3:1: no source 'x'"* ]]
    # The name of a view of the daemon.
    printf '%s\n' 'view "A room."' 'x = 1' > room.view
    run -0 bindctl view check room.view
    [ "${lines[0]}" = "warning: room.view:1:1: service 'chat' has a view 'room', so a reload refuses a file of this name" ]
}

@test "a view to which a file leads is found beside it; otherwise the message says where" {
    mkdir views other
    printf '%s\n' 'view "All."' 'choose => two name="a"' > views/one.view
    run -5 bindctl view check views/one.view
    is "$output" "views/one.view:2:11: no view 'two': the daemon has none, and there is no file views/two.view; if it is elsewhere, give its file too"
    printf '%s\n' 'view "One." (name: text)' 'back => one' > views/two.view
    run -0 bindctl view check views/one.view
    is "$output" 'views/one.view is valid together with views/two.view'
    cd views
    is "$(bindctl view check one.view)" 'one.view is valid together with two.view'
    is "$(bindctl view check one.view -j | jq -c .faults)" '[]'
    cd ..
    # It is checked whether the view has the arguments.
    printf '%s\n' 'view "One." (nam: text)' 'back => one' > views/two.view
    run -5 bindctl view check views/one.view
    is "${lines[0]}" "views/one.view:2:15: the view 'two' has no argument 'name'; did you mean 'nam'?"
    printf '%s\n' 'view "One." (name: text)' > other/two.view
    rm views/two.view
    run -0 bindctl view check views/one.view other/two.view
    # A view of the daemon with a similar name.
    printf '%s\n' 'view "All."' 'go => systm' > views/one.view
    run -5 bindctl view check views/one.view
    is "$output" "views/one.view:2:7: no view 'systm'; did you mean 'system'?"
}

@test "a file is opened without installation, in a pipe" {
    thermostat
    printf '%s\n' '{"intent":"warmer"}' '{"intent":"wanted","args":{"value":19}}' '{"intent":"wanted","args":{"value":"x"}}' |
        bindctl open ./thermostat.view > out
    grep -q '"binder":"thermostat"' out
    grep -q '"temperature":{"kind":"state","hint":"°C","value":20.4}' out
    grep -q '{"answer":{"intent":"warmer","value":21.5,' out
    grep -q '"path":"/args/value"' out
    [ "$(bindctl get cells/kitchen/wanted)" = 19 ]
}

@test "the arguments of a file say how they are written, and a bad line loses no answer" {
    printf '%s\n' 'view "N" (n: integer, at: clock)' 'cells/n <> value' 'x = "{n} {at}"' > n.view
    run -5 bindctl open ./n.view
    is "$output" "bindctl: missing parameter 'n' (integer); write it behind the view: n:=1"
    run -5 bindctl open ./n.view n=3
    is "$output" "bindctl: expected an integer at /args/n, got a string; use ':=' for values other than text, as in n:=1"
    run -5 bindctl open ./n.view n:=3
    is "$output" "bindctl: missing parameter 'at' (string); write it behind the view: at=TEXT"
    printf '%s\n' '{"intent":"value","args":{"value":7}}' 'no JSON' '{"intent":"value","args":{"value":8}}' > lines
    run -2 bindctl open ./n.view n:=3 at=09:00 < lines
    [[ "$output" == *'{"answer":{"intent":"value",'* ]]
    [[ "${lines[-1]}" == "bindctl: a line of stdin is not a JSON object"* ]]
    [ "$(bindctl get cells/n)" = 7 ]
}

@test "a terminal shows units, edits in place, and offers what makes sense" {
    thermostat
    terminal ./thermostat.view
    eventually shows '^thermostat$'
    eventually shows '^temperature +20.4 °C$'
    eventually shows '^heating +yes$'
    eventually shows '^enter warmer .*stop'
    keys Enter
    eventually shows '^wanted +21.5 °C$'
    keys w
    eventually shows '^> value +21.5'
    keys C-u 18 Enter
    eventually shows '^wanted +18 °C$'
    keys a
    eventually shows '^> value +no'
    keys C-u yes Enter
    eventually shows '^away +yes$'
    bindctl set cells/heater false
    eventually shows '^heating +no$'
    eventually not shows 'stop'
    keys q
}

@test "a terminal shows two lists, a tab, an answer, and asks what it removes" {
    bindctl pipe > /dev/null << 'END'
{"method":"lists.append","params":["shop","bread"]}
{"method":"maps.put","params":["m","window",1]}
{"method":"cells.set","params":["t1",5]}
{"method":"todo.add","params":{"title":"sweep"}}
END
    cat > desk.view << 'END'
view "A desk."
lists/shop ~> shop
  value ~> thing
maps/m ~> seats
  key ~> seat
find -> cells.list prefix="t"
drop -> maps.remove name="m" key=seats.id   destructive
tab "All things" => todo
END
    terminal ./desk.view
    eventually shows '^> bread'
    eventually shows '^  window'
    eventually shows '^\[All things\]'
    eventually shows '^  sweep'
    run ! shows 'd drop'
    keys Enter
    eventually shows '^thing  bread'
    keys Escape Down
    eventually shows '^> window'
    keys d
    eventually shows "^drop 'window'\?$"
    keys n f
    eventually shows '^t1  5$'
    keys Escape Tab
    eventually shows '^desk › All things$'
    eventually shows '^  window'
    keys r C-u Enter
    eventually shows "^'title' is empty; enter again sends it so$"
    keys q
}

@test "each saved version of a followed file is shown; the fault of a bad one is shown, and the last good one stays" {
    thermostat
    terminal --follow thermostat.view
    eventually shows '^title +Kitchen$'
    sed -i 's/"Kitchen"/"Cellar"/' thermostat.view
    eventually shows '^title +Cellar$'
    sed 's/"Cellar"/Cellar/' thermostat.view > new
    mv new thermostat.view
    eventually shows "thermostat:4:9: 'Cellar' is not JSON; a text needs quotes"
    eventually shows '^title +Cellar$'
    sed -i 's/= Cellar/= "Attic"/' thermostat.view
    eventually shows '^title +Attic$'
    bindctl set cells/kitchen/temperature 3
    eventually shows '^temperature +3 °C$'
    keys q
}

@test "an installed view is opened by its name, and again when its file has changed" {
    cat > view.d/shopping.view << 'END'
view "What to buy."
lists/shopping ~> items
add    -> lists.append name="shopping" value=?text
bought -> lists.remove name="shopping" at=row.id  main
END
    bindctl reload | grep -q 'changed: views'
    bindctl views | grep -q '^shopping.What to buy'
    for item in milk tea bread; do bindctl call lists.append name=shopping value=$item; done > /dev/null
    terminal shopping
    eventually shows '^items \(3\)$'
    keys Down
    eventually shows '^> tea'
    sed -i 's/~> items/~> goods/' view.d/shopping.view
    bindctl reload
    eventually shows '^goods \(3\)$'
    eventually shows '^> tea'
    keys Enter
    eventually shows '^goods \(2\)$'
    [ "$(bindctl get lists/shopping -j | jq -c .value)" = '["milk","bread"]' ]
    echo 'add ->' >> view.d/shopping.view
    run -5 bindctl reload
    [[ "$output" == *"shopping.view:5:7: expected a method, found the end of the line"* ]]
    eventually shows '^goods \(2\)$'
    keys q
}

@test "each view of the document and of the README is valid" {
    sed -n '/^## A view in seven lines/,/^## How/p' "$BATS_TEST_DIRNAME/../../README.md" |
        awk '/^```/ { inside = !inside; next } inside' > view.d/seven.view
    [ "$(wc -l < view.d/seven.view)" = 7 ]
    awk '/^```/ { file = "" } file { print > file } /^# [a-z]*[.]view$/ { file = "view.d/" $2 }' \
        "$BATS_TEST_DIRNAME/../../Documentation/views-in-a-file.md"
    run -0 bindctl reload
    [ "$output" = 'changed: views' ] # without a warning
    for name in booking queue rooms seven thermostat; do bindctl views | grep -q "^$name"; done
    echo '{"intent":"book"}' | bindctl open booking room=blue > out
    grep -q '"answer":{"intent":"book","value":"'"$(id -u)"'"' out
    grep -q '"next":.*"booked_by":{"value":"'"$(id -u)"'"' out
    [ "$(bindctl get cells/rooms/blue -j | jq -c .value)" = "\"$(id -u)\"" ]
}

@test "a program without a view has one" {
    bindctl serve stock.buy='echo "$BINDER_PARAMS"' 3>&- 2> err &
    background+=($!)
    eventually bindctl is 'providers/stock exists'
    eventually sh -c 'bindctl views | grep -q ^stock'
    echo '{"intent":"buy"}' | bindctl open stock > out
    grep -q '"answer":{"intent":"buy","value":' out
}
