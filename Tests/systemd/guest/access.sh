# Members of the group connect; nobody else does, and nobody reads the journal.
source "$(dirname "$0")/common.sh"
install_units
useradd --groups binder alice
useradd bob
knock() { runuser -u "$1" -- socat -t 10 - UNIX-CONNECT:$socket <<< '{"id":1,"method":"ping"}' 2>&1; }
same "alice" "$(knock alice | jq .id)" 1
refusal=$(knock bob) && fail "bob is let in: $refusal"
[[ $refusal == *"Permission denied"* ]] || fail "bob hears '$refusal'"
runuser -u alice -- cat /var/lib/binder/journal.db > /dev/null 2>&1 && fail "alice reads the journal"
rmdir=$(runuser -u alice -- rm -f $socket 2>&1) && fail "alice removes the socket $rmdir"
same "alice, once more" "$(knock alice | jq .id)" 1
