# Daemons that share a journal in PostgreSQL.

load support

setup() {
    declare -gA nodes=() # the process of each node
    "$BATS_TEST_DIRNAME/../../Scripts/postgres" bin > /dev/null || skip 'PostgreSQL 15 is missing; see Scripts/packages test'
    make_place
    chmod 711 "$directory" # the server runs as the user nobody
    export BINDER_SOCKET=$directory/a.sock
    server=$directory/pg
    database="postgres:///postgres?host=$server&user=postgres"
}

teardown() {
    [ -n "${server:-}" ] || return 0
    for pid in "${nodes[@]}"; do kill -KILL "$pid" 2> /dev/null || true; done
    postgres stop "$server" immediate
    remove_place
}

postgres() { "$BATS_TEST_DIRNAME/../../Scripts/postgres" "$@" 3>&-; }

sql_is() { [ "$(sql "$2")" = "$1" ]; } # text query

sql() { psql -h "$server" -U postgres -AtXqc "$1"; }

start_server() { postgres start "$server"; }

# Runs binderd for a task on journals.
tool() { run --separate-stderr binderd --config /dev/null --progress none "$@"; }

start_node() { # name options...
    binderd --config /dev/null --socket "$directory/$1.sock" --journal "$database" --node "$1" \
        --address "$directory/$1.sock" --without-replication "${@:2}" 2>> "$directory/log-$1" 3>&- &
    nodes[$1]=$!
    eventually at "$1" ping > /dev/null 2>&1
}

at() { BINDER_SOCKET=$directory/$1.sock bindctl "${@:2}"; } # name arguments...

role() { at "$1" get daemon/cluster 2> /dev/null | jq -r .role; }

is_role() { [ "$(role "$1")" = "$2" ]; } # name role

shows() { [ "$(at "$1" get "$2" 2> /dev/null)" = "$3" ]; } # name source value

start_cluster() { # names...
    start_server
    tool --init --journal "$database" --without-replication
    is "$status" 0
    for name in "$@"; do start_node "$name"; done
}

@test "daemons that are killed again and again lose nothing, and run each command once" {
    BINDERD=$(command -v binderd) "$BATS_TEST_DIRNAME/../../Scripts/kill-cluster" --single 10
}

@test "a Patroni that loses events is refused, before anything is started" {
    printf '#!/bin/sh\necho 3.0.2\n' > "$directory/python"
    chmod +x "$directory/python"
    PATRONI=$directory/python run --separate-stderr "$BATS_TEST_DIRNAME/../../Scripts/patroni" start "$directory/three"
    is "$status" 69
    is "$stderr" 'patroni: Patroni 3.0.2 loses acknowledged events with etcd v3; take 3.0.3 or newer'
    [ ! -e "$directory/three" ]
}

@test "a follower serves reads and subscriptions, and passes commands on" {
    start_cluster a b
    is "$(role a)" active
    is "$(role b)" following
    at a set cells/lamp 1
    eventually shows b cells/lamp 1
    beside at b watch cells/lamp
    eventually has out $'cells/lamp\t1'
    at b set cells/lamp 2
    is "$(at b get cells/lamp)" 2
    eventually has out $'cells/lamp\t2'
    is "$(at a get cells/lamp)" 2
    is "$(at b events -n 9 --json | jq -c '[.seq, .stream]')" "$(at a events -n 9 --json | jq -c '[.seq, .stream]')"
    figures() { [ "$(at "$1" metrics --prometheus | grep "^binderd_cluster_$2")" = "$3" ]; } # name figures text
    eventually figures b '' \
        $'binderd_cluster_active 0\nbinderd_cluster_connected 1\nbinderd_cluster_nodes 2\nbinderd_cluster_behind 0\nbinderd_cluster_forwarded_total 1\nbinderd_cluster_foreign_clients 0'
    eventually figures a foreign 'binderd_cluster_foreign_clients 0'
}

# The answers of a daemon to lines of the input, until the last one has its answer.
lines() { socat -t 60 - "UNIX:$directory/$1.sock" | jq -c "${2:-.result // .error}"; } # name filter

@test "a client of a follower reads its own writes, and gets its answers in order" {
    start_cluster a b
    {
        for i in 1 2 3 4 5; do echo '{"id":'$i',"method":"cells.add","params":["n",1]}'; done
        echo '{"id":6,"method":"get","params":["cells/n"]}'
        echo '[{"id":7,"method":"cells.add","params":["n",1]},{"id":8,"method":"get","params":["cells/n"]}]'
        echo '{"method":"cells.add","params":["n",1]}'
        echo '{"id":9,"method":"get","params":["cells/n"]}'
    } > "$directory/requests"
    run lines b 'if type == "array" then [.[] | [.id, .result.value]] else [.id, .result.value] end' < "$directory/requests"
    is "$output" $'[1,1]\n[2,2]\n[3,3]\n[4,4]\n[5,5]\n[6,5]\n[[7,6],[8,6]]\n[9,7]'
    # A notification of the database has fewer than 8,000 bytes.
    value=$(printf '%*s' 8000 '' | sed 's/ /ä"€x/g' | jq -Rc .)
    echo "{\"id\":1,\"method\":\"cells.set\",\"params\":[\"long\",$value]}" | lines b .result.seq
    is "$(at b get cells/long | sha256sum)" "$(echo "$value" | sha256sum)"
    # Errors are those of the active daemon, after its checks.
    run at b call cells.add name=long by:=1
    [[ $output == *not_a_number* || $output == *number* ]]
    run at b call cells.set name='a b' value:=1
    [[ $output == *name* ]]
    run --separate-stderr at b call cells.set name=n value:=1 --expect cells/n=none
    [[ $stderr == *version* ]]
    is "$(at b call cells.add name=once by:=1 --cmd k1)" 1
    is "$(at a call cells.add name=once by:=1 --cmd k1)" 1
    is "$(at b get cells/once)" 1
}

@test "locks, services, bindings, readers, logins and views work for the clients of a follower" {
    start_cluster a b
    beside at b lock door sleep 600
    eventually holds door
    is "$(at a get locks/door | jq .waiting_count)" 0
    kill "$(at a get locks/door | jq .holder.pid)"
    eventually free door
    # A service whose provider and caller are clients of different daemons.
    beside at b serve echo.say=cat
    eventually at a get providers/echo > /dev/null 2>&1
    is "$(at a call echo.say text=hello | jq -c .)" '{"text":"hello"}'
    is "$(at b call echo.say text=again | jq -c .)" '{"text":"again"}'
    at b bind --daemon 'cells/out <~ cells/in'
    at b set cells/in 7
    eventually shows b cells/out 7
    at b events --durable tail -n 1 > "$directory/events"
    at a get readers/tail > /dev/null
    # Only the active daemon knows whether somebody reads.
    known() { at "$1" get daemon/readers | jq -e ".[] | select(.reader == \"tail\" and $2)" > "$directory/reader"; }
    eventually known a '.held == false' # after the reader has gone
    is "$(jq -c '[has("held"), has("in_hand")]' "$directory/reader")" '[true,false]'
    eventually known b true
    is "$(jq -c '[has("held"), has("seq"), has("behind")]' "$directory/reader")" '[false,true,true]'
    # A view, its intents, and a login that both daemons know.
    {
        echo '{"id":1,"method":"users.log_in","params":{"name":"ada"}}'
        echo '{"id":2,"method":"users.whoami"}'
        echo '{"id":3,"method":"chat.create","params":{"name":"hall"}}'
        echo '{"id":4,"method":"open","params":{"binder":"threads","view":"v"}}'
        eventually grep -q '"id":4' "$directory/chat" >&2
        echo '{"id":5,"method":"close","params":{"view":"v"}}'
    } | socat -t 60 - "UNIX:$directory/b.sock" > "$directory/chat"
    is "$(jq -c 'select(.id == 2) | .result.value.user' "$directory/chat")" '"ada"'
    is "$(jq -c 'select(.id == 4) | .result.binder' "$directory/chat")" '"threads"'
    is "$(jq -c 'select(.id == 5) | .result.closed' "$directory/chat")" '["v"]'
}

holds() { [ -n "$(at a get "locks/$1" 2> /dev/null | jq -r '.holder.pid // empty')" ]; } # lock
free() { ! holds "$1"; } # lock

@test "bindctl cluster and doctor show the daemons, and what is wrong" {
    start_cluster a b
    at b set cells/lamp 1
    eventually known b 2
    eventually none_behind b
    run at b cluster
    is "$(cut -f 1,2,4,6,7 <<< "$output")" \
        $'a\tactive\t0\t'"$(at a --version | grep -o '[0-9.]*$')"$'\t'"$directory/a.sock"$'\nb*\tfollowing\t0\t'"$(at a --version | grep -o '[0-9.]*$')"$'\t'"$directory/b.sock"
    is "$(at b cluster -j | jq -r 'select(.role == "active").name')" a
    is "$(at b doctor -j | jq -c '.checks[] | select(.name == "cluster" or .name == "disk") | [.state, .text]')" \
        $'["ok","\'a\' is active; 1 more can take over"]\n["skipped","the events are in a database"]'
    kill -STOP "${nodes[b]}"
    sql "UPDATE binder.node SET seen = now() - interval '20 seconds' WHERE name = 'b'"
    eventually finds a '"warning","b shows no sign of life"'
    kill -CONT "${nodes[b]}"
    postgres stop "$server" immediate
    eventually finds b '"critical","b cannot reach the database: '
    run --separate-stderr at b cluster
    [[ $stderr == *'the database is away'* ]]
    export BINDER_SOCKET=$directory/bus.sock
    start_daemon --config /dev/null
    run --separate-stderr bindctl cluster
    is "$status" 1
    [[ $stderr == *'shares its journal with no other'* ]]
    kill_daemon
}

known() { [ "$(at "$1" get daemon/cluster | jq '.nodes | length')" = "$2" ]; } # name count
none_behind() { [ "$(at "$1" cluster -j | jq -s 'map(.behind) | add')" = 0 ]; } # name
finds() { at "$1" doctor -j | jq -c '.checks[] | select(.name == "cluster") | [.state, .text]' | grep -qF "$2"; } # name text

@test "what runs once in a cluster runs on the active daemon, also after a takeover" {
    start_cluster a b
    at a set cells/in 1
    at a bind --daemon 'cells/out <~ cells/in'
    eventually shows b cells/out 1
    kill -KILL "${nodes[a]}"
    eventually is_role b active
    at b set cells/in 2
    eventually shows b cells/out 2
    is "$(sql "SELECT count(*) FROM binder.event WHERE stream = 'cells/out'")" 2
}

@test "a daemon that was paused beyond its lease begins again as a follower, and stops in order" {
    start_cluster a b
    at a set cells/lamp 1
    kill -STOP "${nodes[a]}"
    eventually is_role b active
    at b set cells/lamp 2
    kill -CONT "${nodes[a]}"
    eventually is_role a following
    eventually shows a cells/lamp 2
    kill -TERM "${nodes[a]}"
    wait "${nodes[a]}"
}

@test "the last daemon that stops leaves a journal that the next one takes at once" {
    start_cluster a
    at a set cells/lamp 1
    kill -TERM "${nodes[a]}"
    wait "${nodes[a]}"
    is "$(sql "SELECT active IS NULL, term FROM binder.head")" 't|1'
    start_node b
    is "$(role b)" active
    is "$(at b get cells/lamp)" 1
}

@test "a follower that stops in order is not missed, and one daemon is active after a kill" {
    start_cluster a b c
    eventually known a 3
    kill -TERM "${nodes[c]}"
    wait "${nodes[c]}"
    is "$(sql "SELECT state FROM binder.node WHERE name = 'c'")" stopped
    eventually finds a $'"ok","\'a\' is active; 1 more can take over"'
    kill -KILL "${nodes[a]}"
    eventually is_role b active
    only_active() { [ "$(at b cluster -j | jq -r 'select(.role == "active").name')" = "$1" ]; } # name
    eventually only_active b
    eventually finds b '"warning","a shows no sign of life"'
}

@test "the tools wait for a server that starts, and take one without standbys if they are asked to" {
    start_server
    postgres stop "$server" immediate
    beside binderd --config /dev/null --progress none --init --journal "$database" --without-replication
    sleep 0.5
    start_server
    wait "${background[-1]}"
    sql_is 1 "SELECT count(*) FROM binder.head"
    bindctl journal export "$directory/lines" --file "$database"
    run --separate-stderr bindctl journal import "$directory/lines" --file "$database" --force
    is "$status" 1
    [[ $stderr == *"'require_replication' to false (--without-replication) for a server without standbys" ]]
    bindctl journal import "$directory/lines" --file "$database" --force --without-replication
    run --separate-stderr bindctl journal compact --file "$database"
    is "$status" 1
    bindctl journal compact --file "$database" --without-replication
}

reports_away() {
    at a doctor -j | jq -e --arg server "$server" '.checks[] | select(.name == "cluster")
        | .state == "critical" and (.text | test("cannot reach the database: .*\($server)"))'
}

@test "while the database is away, values are served and commands wait" {
    start_cluster a
    at a set cells/lamp 1
    postgres stop "$server" immediate
    is "$(at a get cells/lamp)" 1
    beside at a set cells/lamp 2
    eventually reports_away
    at a cluster 2>&1 | grep -q "the database is away: .*$server"
    is "$(at a get cells/lamp)" 1
    start_server
    eventually shows a cells/lamp 2
    is "$(sql "SELECT count(*) FROM binder.event")" 2
    eventually contains log-a 'the database is away'
    eventually contains log-a 'the database is back'
}

@test "a journal goes from a file to the database and back, with all positions" {
    start_server
    export BINDER_SOCKET=$directory/bus.sock
    start_daemon --config /dev/null
    for value in 1 2 3; do bindctl set cells/lamp "$value"; done
    bindctl call cells.add name=visits by:=1 --cmd once
    kill_daemon
    daemon=
    tool --export "$directory/before" --journal "$directory/journal.db"
    is "$status" 0
    tool --copy "$database" --journal "$directory/journal.db" --without-replication
    is "$status" 0
    [[ $output == *'4 events, 1 to 4'* ]]
    start_node a
    is "$(at a get cells/lamp)" 3
    is "$(at a get cells/lamp --at 1)" 1
    # The command was run before the copy.
    is "$(at a call cells.add name=visits by:=1 --cmd once)" "$(at a get cells/visits)"
    is "$(at a get cells/visits)" 1
    at a set cells/lamp 4
    # Without --file the connection string is that of the configuration, and restore needs it.
    echo "{\"journal\": {\"postgres\": \"host=$server user=postgres dbname=postgres\"}}" > "$directory/binder.conf"
    CONFIGURATION_DIRECTORY=$directory at a journal verify
    run --separate-stderr at a journal restore "$directory/journal.db"
    [ "$status" -ne 0 ]
    [[ $stderr == *'has its journal in a database; name it with --file JOURNAL' ]]
    run --separate-stderr at a journal info --json
    is "$(jq .count <<< "$output")" 5
    kill -TERM "${nodes[a]}"
    wait "${nodes[a]}"
    tool --verify --journal "$database"
    is "$status" 0
    tool --backup "$directory/backup.db" --journal "$database"
    is "$status" 0
    tool --copy "$directory/back.db" --journal "$database"
    is "$status" 0
    for copy in back backup; do
        tool --export "$directory/$copy.lines" --journal "$directory/$copy.db"
        is "$status" 0
        is "$(jq -c 'select(.seq) | del(.crc)' "$directory/$copy.lines" | head -n 4)" \
            "$(jq -c 'select(.seq) | del(.crc)' "$directory/before" | head -n 4)"
        is "$(jq -s 'map(select(.type and .stream)) | length' "$directory/$copy.lines")" 5
    done
    # A second copy replaces nothing without --force.
    tool --copy "$database" --journal "$directory/back.db" --without-replication
    is "$status" 78
    [[ $stderr == *'has a journal; use --force to replace it' ]]
}

@test "a journal in a database is exported, imported, backed up, restored and compacted" {
    start_cluster a
    for value in 1 2 3 4; do at a set cells/lamp "$value"; done
    at a journal compact --before 2
    kill -TERM "${nodes[a]}"
    wait "${nodes[a]}"
    events() { jq -c 'select(.stream) | [.seq, .stream, .data]' "$1"; }
    tool --export "$directory/lines" --journal "$database"
    is "$status" 0
    tool --backup "$directory/backup.db" --journal "$database"
    is "$status" 0
    # Nothing is replaced without --force, and by no journal that is wrong.
    epoch=$(sql "SELECT value FROM binder.journal WHERE key = 'epoch'")
    sed '3s/"seq":3/"seq":1/' "$directory/lines" > "$directory/wrong"
    while IFS='|' read -r words code message; do
        # shellcheck disable=SC2086
        tool $words --journal "$database" --without-replication
        is "$status" "$code"
        is "$(wc -l <<< "$stderr")" 1
        [[ $stderr == *"$message" ]] || is "$stderr" "$message"
        is "$(sql "SELECT value FROM binder.journal WHERE key = 'epoch'")" "$epoch"
        is "$(sql "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'binder%'")" 1
    done <<END
--import $directory/lines|78|has a journal; use --force to replace it
--restore $directory/backup.db|78|has a journal; use --force to replace it
--import $directory/wrong --force|1|line 3: 'seq' does not increase
END
    for words in "--import $directory/lines" "--restore $directory/backup.db"; do
        # shellcheck disable=SC2086
        tool $words --journal "$database" --without-replication --force
        is "$status" 0
        [ "$(sql "SELECT value FROM binder.journal WHERE key = 'epoch'")" != "$epoch" ]
        tool --verify --journal "$database"
        is "$status" 0
        tool --export "$directory/again" --journal "$database"
        is "$(events "$directory/again")" "$(events "$directory/lines")"
    done
    is "$(sql "SELECT string_agg(nspname, ' ' ORDER BY nspname) FROM pg_namespace WHERE nspname LIKE 'binder%'")" \
        'binder binder_old binder_old_2'
    tool --compact --before 4 --journal "$database" --without-replication
    is "$status" 0
    is "$(sql "SELECT min(seq) FROM binder.event")" 4
    is "$(sql "SELECT active IS NULL FROM binder.head")" t
    tool --info --journal "$database"
    is "$(jq -cS '[.first, .types]' <<< "$output")" '[4,{"cells.set":1,"daemon.compacted":2}]'
    start_node a
    is "$(at a get cells/lamp)" 4
}

@test "a daemon begins again on another epoch, and ends if its journal has lost events" {
    start_cluster a
    at a set cells/lamp 1
    at a set cells/lamp 2
    pid=${nodes[a]}
    kill -STOP "$pid"
    sql "UPDATE binder.journal SET value = 'another' WHERE key = 'epoch'"
    kill -CONT "$pid"
    eventually grep -q 'begins again: the journal has another epoch, another' "$directory/log-a"
    eventually is_role a active
    is "$(at a get cells/lamp)" 2
    kill -STOP "$pid"
    postgres stop "$server" immediate
    start_server
    sql "DELETE FROM binder.event WHERE seq = 2; UPDATE binder.head SET last = 1"
    kill -CONT "$pid"
    status=0
    wait "$pid" || status=$?
    is "$status" 74
    grep -q 'error: .*the journal ends at 1, but event 2 was acknowledged: a failover of the database has lost events' "$directory/log-a"
    [ "$(sql "SELECT value FROM binder.journal WHERE key = 'epoch'")" != another ]
    start_node a
    is "$(at a get cells/lamp)" 1
}

@test "a damaged event in the database is found, and named" {
    start_cluster a
    for value in 1 2 3; do at a set cells/lamp "$value"; done
    kill -KILL "${nodes[a]}" # a snapshot would replace the event
    wait "${nodes[a]}" || true
    sql "UPDATE binder.event SET data = replace(data, '2', '9') WHERE seq = 2"
    tool --verify --journal "$database"
    is "$status" 1
    [[ $output == *'event 2'* ]]
    run --separate-stderr timeout 60 binderd --config /dev/null --socket "$directory/a.sock" --journal "$database" --without-replication
    is "$status" 78
    [[ $stderr == *'event 2 of the journal is damaged'* ]]
}

@test "a database that cannot be used is refused with what to change, and without the password" {
    start_server
    words=(binderd --config /dev/null --socket "$directory/a.sock")
    # refuse JOURNAL MESSAGE OPTION...: the daemon ends with 78 and one line that contains the message.
    refuse() {
        run --separate-stderr timeout 60 "${words[@]}" --journal "$1" "${@:3}"
        is "$status" 78
        is "$(wc -l <<< "$stderr")" 1
        [[ $stderr == *"$2"* ]] || is "$stderr" "$2"
        [[ $stderr != *geheim* ]]
    }
    refuse 'postgres://u:geheim@/x?hos=1' 'it has an option that PostgreSQL does not know'
    refuse 'postgres://u:geheim@h:99999/x' 'a port of the connection string is not a number from 1 to 65535'
    PGAPPNAME=Patroni beside psql "$database" -XAtqc 'SELECT pg_sleep(600)'
    eventually sql_is 1 "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'Patroni'"
    refuse "$database" 'the server is run by a Patroni older than 3.2; versions before 3.0.3 lose acknowledged events with etcd v3; update Patroni'
    sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'Patroni'" > /dev/null
    eventually sql_is 0 "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'Patroni'"
    refuse "$database" "the server's replication is asynchronous"
    refuse "$database" "create one with 'bindctl journal init'" --without-replication
    refuse "postgres:///none?host=$server&user=postgres&password=geheim" 'database "none" does not exist' --without-replication
    sql "CREATE DATABASE ascii ENCODING 'SQL_ASCII' TEMPLATE template0"
    refuse "postgres:///ascii?host=$server&user=postgres" "the database has the encoding SQL_ASCII; create one with ENCODING 'UTF8'" --without-replication
    # A database that says what another server would say.
    sql "CREATE DATABASE other"
    other="postgres:///other?host=$server&user=postgres"
    psql "$other" -qXc "CREATE SCHEMA fake; CREATE TABLE fake.setting (name text, value text); INSERT INTO fake.setting VALUES ('', '');
        CREATE FUNCTION fake.current_setting(text) RETURNS text LANGUAGE sql AS
            'SELECT coalesce((SELECT value FROM fake.setting WHERE name = \$1), pg_catalog.current_setting(\$1))';
        ALTER DATABASE other SET search_path = fake, pg_catalog"
    while IFS='|' read -r name value message; do
        psql "$other" -qXc "UPDATE fake.setting SET name = '$name', value = '$value'"
        refuse "$other" "$message" --without-replication
        tool --init --journal "$other" --without-replication
        is "$status" 78
        [[ $stderr == *"$message"* ]] || is "$stderr" "$message"
    done <<'END'
server_version_num|140012|the server is PostgreSQL 14; version 15 or newer is needed
fsync|off|the server has fsync = off and would lose acknowledged events; set it to on
data_checksums|off|stop it and run 'pg_checksums --enable', or create it with 'initdb --data-checksums'
END
    for name in postgres other; do
        is "$(psql "postgres:///$name?host=$server&user=postgres" -AtXqc "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'binder%'")" 0
    done
    tool --init --journal "$database" --without-replication
    sql "UPDATE binder.journal SET value = '2' WHERE key = 'format'"
    refuse "$database" 'database postgres: the journal has format 2, this program knows up to 1; install the version of binderd that has made it' --without-replication
    is "$(sql "SELECT last, term FROM binder.head")" '0|0'
    # The password is in no message of a daemon that runs, either.
    sql "UPDATE binder.journal SET value = '1' WHERE key = 'format'"
    database="$database&password=geheim"
    start_node a
    postgres stop "$server" immediate
    eventually grep -q 'the database is away' "$directory/log-a"
    at a journal info > "$directory/info" 2>&1 || true
    run grep -l geheim "$directory"/log* "$directory/info"
    is "$output" ''
}

@test "a service in a file has its sources, its methods and its views on a follower too" {
    mkdir "$directory/service.d" "$directory/view.d"
    echo '{}' > "$directory/binder.conf"
    cat > "$directory/service.d/doors.service" << 'END'
service("doors", "How often each door was opened.")
local doors = rows("doors/*", "The number of times.")
on["cells.set cells/door/*"] = function(e, at)
  local door = at.name:sub(6)
  doors[door] = (doors[door] or 0) + 1
end
on.reset = function(e) doors[e.door] = 0 end
command.reset = { "Begins again.", door = "name", run = function(p) record("reset", { door = p.door }) end }
END
    printf '%s\n' 'view "Doors."' 'doors/* ~> doors' 'reset -> doors.reset door=row.id' > "$directory/view.d/panel.view"
    start_server
    tool --init --journal "$database" --without-replication
    start_node a --config "$directory/binder.conf"
    start_node b --config "$directory/binder.conf"
    is "$(role b)" following
    at a set cells/door/front true
    eventually shows b doors/front 1
    at b set cells/door/front false
    is "$(at b get doors/front)" 2
    is "$(at a get doors/front)" 2
    # By its name in a file, as the view that every service has, and as a text.
    # On a busy machine the rows follow the first frame.
    opens() { at b open "$1" < /dev/null | grep -q '"value":'"$2"; }
    eventually opens panel 2
    eventually opens doors 2
    cp "$directory/view.d/panel.view" "$directory/own.view"
    eventually opens "$directory/own.view" 2
    echo '{"intent":"reset","args":{"id":"front"}}' | at b open "$directory/own.view" > "$directory/answers"
    eventually shows a doors/front 0
    eventually shows b doors/front 0
    # After the active one is gone, the other goes on with the state.
    kill -KILL "${nodes[a]}"
    eventually is_role b active
    at b set cells/door/front true
    is "$(at b get doors/front)" 1
    eventually opens doors 1
}
