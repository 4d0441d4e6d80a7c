# A daemon of one's own: installed by its Makefile beside binderd, with its own user, socket and journal.
#   environment: PACKAGE  a package of Scripts/new-daemon with roomsd in .build/bin and its units
source "$(dirname "$0")/common.sh"
PATH=$BINDERD_BIN:$PATH
install_units
set_cell lamp true

make -s -C "$PACKAGE" install
systemctl enable --quiet --now roomsd.socket
same "the service before a client" "$(show ActiveState roomsd.service)" inactive
same "the socket file" "$(stat -c '%U:%G %a' /run/roomsd/bus.sock)" "roomsd:roomsd 660"
same "the first id" "$(bindctl -n roomsd call rooms.add title=milk)" 1
same "the service after a client" "$(show ActiveState roomsd.service)/$(show StatusText roomsd.service)" active/serving
same "who runs it" "$(stat -c %U "/proc/$(show MainPID roomsd.service)")" roomsd
same "the journal" "$(stat -c '%U %a' /var/lib/roomsd/journal.db)" "roomsd 600"
same "the log" "$(journalctl --sync; journalctl -q -o json -u roomsd --grep serves | jq -r .SYSLOG_IDENTIFIER)" roomsd

# Clients stay connected over a restart, and values too.
bindctl -n roomsd watch 'rooms/*' > /tmp/watched &
eventually grep -q milk /tmp/watched
systemctl restart roomsd.service
bindctl -n roomsd call rooms.add title=tea
eventually grep -q tea /tmp/watched
kill $!
systemctl kill --signal=KILL roomsd.service
same "after a kill" "$(bindctl -n roomsd get -r rooms/1)" milk

# Each has its own journal, and the other one refuses it.
same "binderd beside it" "$(get_cell lamp)" true
if said=$(binderd --verify --journal /var/lib/roomsd/journal.db 2>&1); then fail "binderd reads the journal of roomsd"; fi
[[ $said == *"is the journal of roomsd, not of binderd"* ]] || fail "binderd says '$said'"
roomsd --verify > /dev/null || fail "roomsd does not read its own journal"

# doctor checks the units of this daemon.
[[ $(bindctl -n roomsd doctor) == *roomsd.service* ]] || fail "doctor does not know the unit"
systemctl stop roomsd.socket roomsd.service
[[ $(bindctl -n roomsd ping 2>&1 || true) == *"systemctl start roomsd.socket"* ]] || fail "no advice how to start it"
