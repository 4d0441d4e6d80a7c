# Only members of the group connect, and no user can read the journal.
source "$(dirname "$0")/common.sh"
install_units
useradd --groups binder alice
useradd bob
knock() { runuser -u "$1" -- socat -t 60 - UNIX-CONNECT:$socket <<< '{"id":1,"method":"ping"}' 2>&1; }
same "alice" "$(knock alice | jq .id)" 1
refusal=$(knock bob) && fail "bob is let in: $refusal"
[[ $refusal == *"Permission denied"* ]] || fail "bob hears '$refusal'"
status=0
refusal=$(runuser -u bob -- bindctl ping 2>&1) || status=$?
same "the exit of bob's bindctl" "$status" 5
[[ $refusal == *"/run/binder/bus.sock belongs to user binder and group binder, mode 0660"* ]] || fail "bob hears '$refusal'"
runuser -u alice -- cat /var/lib/binder/journal.db > /dev/null 2>&1 && fail "alice reads the journal"
rmdir=$(runuser -u alice -- rm -f $socket 2>&1) && fail "alice removes the socket $rmdir"
same "alice, once more" "$(knock alice | jq .id)" 1

# The daemon also checks users who may open the socket.
chmod 666 $socket
status=0
refusal=$(runuser -u bob -- bindctl ping 2>&1) || status=$?
same "the exit of bob's bindctl at an open socket" "$status" 5
[[ $refusal == *"no role in the daemon"* ]] || fail "bob hears '$refusal'"
logged "refused uid $(id -u bob) pid" > /dev/null || fail "the log does not say who was refused"
usermod --append --groups binder bob
same "bob as a member" "$(knock bob | jq .id)" 1
