# The first client starts the daemon, which reports readiness; stop, start and restart lose nothing.
source "$(dirname "$0")/common.sh"
install_units
same "the service before a client" "$(show ActiveState)" inactive
same "the socket file" "$(stat -c '%U:%G %a' $socket)" "binder:binder 660"

set_cell lamp true
same "the service after a client" "$(show ActiveState)/$(show SubState)" active/running
same "what it says of itself" "$(show StatusText)" serving
same "the watchdog" "$(show WatchdogUSec)" 20s
main=$(show MainPID)
same "who runs it" "$(stat -c %U "/proc/$main")" binder
same "the journal" "$(stat -c '%U %a' /var/lib/binder /var/lib/binder/journal.db | paste -sd,)" "binder 700,binder 600"
same "priority of the first line" "$(journalctl --sync; journalctl -q -o json -u binderd --grep serves | jq -r .PRIORITY)" 5

# Clients connect all the time; during a restart they wait in the socket. A client accepted just before may get `closing`.
( trap - ERR EXIT
  until [ -e /tmp/enough ]; do socat -t 60 - UNIX-CONNECT:$socket <<< '{"id":1,"method":"ping"}' || true; done ) > /tmp/answers 2>&1 &
for _ in 1 2 3; do systemctl restart binderd.service; done
touch /tmp/enough
wait $!
grep -q '"id":1' /tmp/answers || fail "no client was there"
same "clients that found nobody" "$(grep -E 'refused|No such file' /tmp/answers || true)" ""
[ "$(show MainPID)" != "$main" ] || fail "a restart leaves the process"
same "lamp after a restart" "$(get_cell lamp)" true

# A client of a stopped daemon waits in the socket and starts the daemon.
systemctl stop binderd.service
same "how it ended" "$(show Result)/$(show ExecMainStatus)" success/0
same "lamp after a stop" "$(get_cell lamp)" true

# When the socket unit stops, the socket file goes too.
systemctl stop binderd.socket binderd.service
[ ! -e $socket ] || fail "the socket file stays"

systemctl enable --quiet --now binderd.service
same "the socket with the service" "$(show ActiveState binderd.socket)" active
same "lamp after all" "$(get_cell lamp)" true
