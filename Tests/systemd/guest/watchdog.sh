# A daemon that lives stays; one that hangs is ended and comes back, with all it has answered.
source "$(dirname "$0")/common.sh"
install_units
override WatchdogSec=1 TimeoutAbortSec=60 # it must die of the abort, not of the time after it
set_cell lamp true
main=$(show MainPID)
sleep 3 # three times the limit, in which it must not be ended
same "restarts of a daemon that lives" "$(show NRestarts)" 0
same "the process" "$(show MainPID)" "$main"

kill -STOP "$main"
eventually has NRestarts 1
logged "Watchdog timeout" > /dev/null || fail "not the watchdog has ended it"
same "lamp" "$(get_cell lamp)" true
[ "$(show MainPID)" != "$main" ] || fail "the process is the same"
