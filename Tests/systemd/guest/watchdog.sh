# A responsive daemon stays; a hanging one is killed and restarted, and acknowledged writes are kept.
source "$(dirname "$0")/common.sh"
install_units
override WatchdogSec=3 TimeoutAbortSec=60 # it must end by the abort, not by the kill after TimeoutAbortSec
set_cell lamp true
main=$(show MainPID)
sleep 7 # more than twice the limit; it must survive
same "restarts of a daemon that lives" "$(show NRestarts)" 0
same "the process" "$(show MainPID)" "$main"

kill -STOP "$main"
eventually has NRestarts 1
logged "Watchdog timeout" > /dev/null || fail "not the watchdog has ended it"
same "lamp" "$(get_cell lamp)" true
[ "$(show MainPID)" != "$main" ] || fail "the process is the same"
