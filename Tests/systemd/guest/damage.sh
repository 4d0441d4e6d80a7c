# An unusable journal causes no endless restarts, and after a repair the daemon serves as before.
source "$(dirname "$0")/common.sh"
install_units
for value in {1..40}; do set_cell visits "$value"; done
systemctl stop binderd.service
cp -a /var/lib/binder /var/lib/binder.whole
printf 'not a journal at all' | dd of=/var/lib/binder/journal.db conv=notrunc status=none

systemctl start binderd.service 2> /dev/null && fail "it starts on a damaged journal"
same "its exit" "$(show ExecMainStatus)" 78
same "the service" "$(show SubState)" failed # not auto-restart

# Each client triggers a start; after a few failures the socket stops too.
for _ in {1..10}; do request '{"id":1,"method":"ping"}' > /dev/null 2>&1 || true; done
eventually has ActiveState failed binderd.socket
starts() { journalctl --sync; journalctl --quiet --output=json --unit=binderd.service | jq -s 'map(select(.MESSAGE_ID == "7d4958e842da4a758f6c1cdc7b36dcc5")) | length'; }
count=$(starts)
[ "$count" -le 5 ] || fail "$count starts in vain"
sleep 1
same "starts a second later" "$(starts)" "$count"
request '{"id":1,"method":"ping"}' > /dev/null 2>&1 && fail "somebody answers"

# The steps of README.md.
rm -r /var/lib/binder
mv /var/lib/binder.whole /var/lib/binder
systemctl reset-failed binderd.service binderd.socket
systemctl start binderd.socket
same "visits" "$(get_cell visits)" 40
