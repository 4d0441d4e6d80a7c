# Backup and restore as root, by the steps of README.md; the service can use the restored journal.
source "$(dirname "$0")/common.sh"
install_units
journal=/var/lib/binder/journal.db
set_cell visits 40
bindctl journal backup /var/backup.db > /dev/null
set_cell visits 41

# The socket would start the daemon again, so the refusal names both units.
systemctl stop binderd.service 2> /dev/null
status=0
refusal=$(bindctl journal restore /var/backup.db --force 2>&1) || status=$?
same "the exit of a restore beside the socket" "$status" 1
[[ $refusal == *"$journal is in use by pid $(show MainPID); stop it first: systemctl stop binderd.socket binderd.service" ]] ||
    fail "the administrator reads '$refusal'"
same "visits, as nothing was restored" "$(get_cell visits)" 41

systemctl stop binderd.socket binderd.service
note=$(bindctl journal restore /var/backup.db --force 2>&1 > /dev/null)
[[ $note == *"no daemon answers; using the journal that binderd would open"* ]] || fail "the administrator reads '$note'"
for file in $journal $journal.old $journal.lock; do
    same "the owner of $file" "$(stat -c %U:%G "$file")" binder:binder
done
systemctl start binderd.socket
same "visits, restored" "$(get_cell visits)" 40

# Also without an existing journal.
systemctl stop binderd.socket binderd.service
rm $journal $journal.*
bindctl journal restore /var/backup.db 2> /dev/null > /dev/null
same "the owner of a new journal" "$(stat -c %U:%G $journal)" binder:binder
systemctl start binderd.socket
same "visits, restored once more" "$(get_cell visits)" 40
