# Scripts/install: twice, with a running daemon, and removal.
source "$(dirname "$0")/common.sh"
install=$project/Scripts/install
[[ $($install) == *"next: systemctl enable --now binderd.socket"* ]] || fail "no next step"
systemctl enable --quiet --now binderd.socket
set_cell lamp true
again=$($install)
[[ $again != *installed* ]] || fail "not idempotent: $again"
[[ $again == *"next: systemctl restart binderd"* ]] || fail "no next step for a daemon that runs: $again"
systemctl restart binderd
same "lamp" "$(get_cell lamp)" true

$install --remove > /dev/null
same "what is left" "$(find /usr/local /etc -name 'binder*')" ""
same "the service" "$(show LoadState)/$(show ActiveState)" not-found/inactive
[ -s /var/lib/binder/journal.db ] || fail "the journal is gone"
$install --remove > /dev/null || fail "a second time is an error"

install_units
same "lamp, installed again" "$(get_cell lamp)" true
