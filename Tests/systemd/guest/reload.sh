# A reload does not restart the daemon, and clients stay connected.
source "$(dirname "$0")/common.sh"
install_units
set_cell lamp true
main=$(show MainPID)
systemctl log-level debug # the manager logs the notifications
coproc CLIENT { socat -t 60 - UNIX-CONNECT:$socket; }
echo '{"id":1,"method":"ping"}' >&"${CLIENT[1]}"
read -r -t 60 answer <&"${CLIENT[0]}"
systemctl reload binderd.service
told=$(logged "Got notification message from PID $main" | sed 's/.*(\(.*\))/\1/; s/USEC=[0-9]*/USEC=N/' | grep -v 'WATCHDOG\|FDSTORE')
same "the messages to the manager" "$told" $'RELOADING=1, MONOTONIC_USEC=N\nREADY=1'
same "the service" "$(show SubState)" running
same "the process" "$(show MainPID)" "$main"

# The new configuration applies; a wrong one changes nothing.
useradd alice
may() { bindctl acl check alice "$@"; }
may cells.set > /dev/null && fail "alice may set cells without a role"
cat > /etc/binder/binder.conf <<'END'
{ "roles": [
  { "name": "panel", "users": ["alice"], // her alone
    "methods": ["cells.*"], "write": ["cells/lamp"] },
] }
END
systemctl reload binderd.service
same "alice and the method" "$(may cells.set)" "allowed as 'panel': 'methods' allows \"cells.*\" (/etc/binder/binder.conf:3)"
same "alice and the door" "$(may --write cells/door || true)" "denied as 'panel': 'write' does not allow it (/etc/binder/binder.conf:2)"
echo '{ "rolse": [] }' > /etc/binder/binder.conf
systemctl reload binderd.service && fail "a reload with a configuration that is wrong has succeeded"
same "the service" "$(show ActiveState)/$(show SubState)" active/running
kill -HUP "$main"
eventually logged "the configuration was not changed"
logged "/etc/binder/binder.conf:1:3: the configuration has no member 'rolse'" > /dev/null || fail "the log has no place"
may cells.set > /dev/null || fail "a configuration that is wrong was taken over"
status=0
refusal=$(bindctl reload 2>&1) || status=$?
same "the exit of bindctl reload" "$status" 5
[[ $refusal == *"binder.conf:1:3: "* ]] || fail "bindctl reload says '$refusal'"
same "the process" "$(show MainPID)" "$main"
echo '{"id":2,"method":"ping"}' >&"${CLIENT[1]}"
read -r -t 60 answer <&"${CLIENT[0]}" || fail "a client was lost"
same "its answer" "$(jq .id <<< "$answer")" 2
