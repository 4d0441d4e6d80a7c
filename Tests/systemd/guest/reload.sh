# A reload is told from a restart, and nobody who is connected notices.
source "$(dirname "$0")/common.sh"
install_units
set_cell lamp true
main=$(show MainPID)
systemctl log-level debug # the manager writes down what it is told
coproc CLIENT { socat -t 10 - UNIX-CONNECT:$socket; }
echo '{"id":1,"method":"ping"}' >&"${CLIENT[1]}"
read -r -t 10 answer <&"${CLIENT[0]}"
systemctl reload binderd.service
told=$(logged "Got notification message from PID $main" | sed 's/.*(\(.*\))/\1/; s/USEC=[0-9]*/USEC=N/' | grep -v WATCHDOG)
same "what the manager was told" "$told" $'RELOADING=1, MONOTONIC_USEC=N\nREADY=1'
same "the service" "$(show SubState)" running
same "the process" "$(show MainPID)" "$main"
echo '{"id":2,"method":"ping"}' >&"${CLIENT[1]}"
read -r -t 10 answer <&"${CLIENT[0]}" || fail "a client was lost"
same "its answer" "$(jq .id <<< "$answer")" 2
