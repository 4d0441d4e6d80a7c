# After a kill, systemd restarts the daemon; acknowledged writes and the clients are kept. An orderly restart keeps the clients too.
source "$(dirname "$0")/common.sh"
install_units
coproc CLIENT { socat -t 60 - UNIX-CONNECT:$socket; }
# Reads the next line for the client, and prints a part of it.
told() { # filter
    read -r -t 60 line <&"${CLIENT[0]}" || fail "the client gets no line"
    jq -c "$1" <<< "$line"
}
echo '{"id":1,"method":"subscribe","params":{"source":"cells/visits","sub":"v"}}' >&"${CLIENT[1]}"
same "the subscription" "$(told .result.sub)" '"v"'
eventually has NFileDescriptorStore 2 # the client, and what describes it
for value in 1 2 3; do
    set_cell visits $value
    same "the line of the client" "$(told '[.params.sub, .params.value]')" "[\"v\",$value]"
    main=$(show MainPID)
    kill -KILL "$main"
    eventually has NRestarts $value
    same "visits" "$(get_cell visits)" $value
    [ "$(show MainPID)" != "$main" ] || fail "the process is the same"
done
same "the service" "$(show ActiveState)" active
same "the socket" "$(show ActiveState binderd.socket)" active

systemctl restart binderd.service
same "the line at a restart" "$(told .method)" '"stopping"'
set_cell visits 4
same "the value after it" "$(told .params.value)" 4
eventually has NFileDescriptorStore 2
systemctl stop binderd.socket binderd.service
same "the line at the stop" "$(told .method)" '"stopping"'
read -r -t 60 line <&"${CLIENT[0]}" && fail "after the stop the client gets '$line'"
same "what the manager keeps after the stop" "$(show NFileDescriptorStore)" 0
