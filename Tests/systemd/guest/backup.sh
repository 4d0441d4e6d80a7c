# The daily backup: its service makes copies and removes old ones; an administrator restores one.
source "$(dirname "$0")/common.sh"
install_units
backups=/var/backups/binder
same "the timer" "$(systemctl is-enabled binderd-backup.timer || true)" disabled
same "the directory" "$(stat -c '%U:%G %a' $backups)" "binder:binder 700"
back_up() { systemctl start binderd-backup.service; }
newest() { find $backups -name 'binder-*.db' | sort -t- -k4n | tail -1; }
count() { find $backups -name '*.db' | wc -l; }

systemctl enable --quiet --now binderd-backup.timer # the one line of the README
same "the timer, enabled" "$(show ActiveState binderd-backup.timer)/$(show Unit binderd-backup.timer)" active/binderd-backup.service
[ "$(show NextElapseUSecRealtime binderd-backup.timer)" != "" ] || fail "the timer never elapses"

for value in 1 2 3 4 5 6 7 8 9; do
    set_cell visits $value
    back_up
done
same "the service after a run" "$(show Result binderd-backup.service)" success
same "the backups" "$(count)" 7
same "all files" "$(find $backups -type f | wc -l)" 7
same "owner and mode of the backups" "$(stat -c '%U:%G %a' $backups/*.db | sort -u)" "binder:binder 600"
same "the position of the newest" "$(newest | sed 's/.*-\([0-9]*\)\.db/\1/')" 9
same "the position of the oldest" "$(find $backups -name '*.db' | sed 's/.*-\([0-9]*\)\.db/\1/' | sort -n | head -1)" 3
for file in "$backups"/*.db; do bindctl journal verify --file "$file" > /dev/null || fail "$file is damaged"; done

# Without a daemon the journal itself is read.
systemctl stop binderd.socket binderd.service
back_up
same "the daemon" "$(show ActiveState)" inactive
same "the backups of a stopped daemon" "$(count)/$(newest | sed 's/.*-\([0-9]*\)\.db/\1/')" 7/9

# A damaged journal gives no backup, and displaces none.
kept=$(ls -i $backups)
cp -a /var/lib/binder /var/lib/binder.whole
bytes=$(stat -c %s /var/lib/binder/journal.db)
head -c $((bytes - 4096)) /dev/urandom | dd of=/var/lib/binder/journal.db bs=4096 seek=1 conv=notrunc status=none
back_up 2> /dev/null && fail "a damaged journal is backed up"
same "the service after a failure" "$(show Result binderd-backup.service)" exit-code
same "the backups after a failure" "$(ls -i $backups)" "$kept"
systemctl reset-failed binderd-backup.service

# The journal is lost, and the daemon begins a new one. Its backups displace none of the old journal.
best=$(newest)
rm -rf /var/lib/binder
systemctl start binderd.socket
set_cell visits 0
for _ in 1 2 3; do back_up; done
[ -e "$best" ] || fail "the backups of a new journal have displaced $best"
for file in $(awk '{print $2}' <<< "$kept"); do [ -e "$backups/$file" ] || fail "$file is gone"; done

# The administrator restores the newest backup of the old journal.
systemctl stop binderd.socket binderd.service
bindctl journal restore "$best" --force > /dev/null 2>&1
same "the owner of the journal" "$(stat -c '%U:%G %a' /var/lib/binder/journal.db)" "binder:binder 600"
systemctl start binderd.socket
same "visits, restored" "$(get_cell visits)" 9
set_cell visits 10
same "visits, set" "$(get_cell visits)" 10

# Also if even the directory is gone.
systemctl stop binderd.socket binderd.service
rm -rf /var/lib/binder
bindctl journal restore "$best" > /dev/null 2>&1
systemctl start binderd.socket
same "visits, restored once more" "$(get_cell visits)" 9
same "the owner of the directory" "$(stat -c '%U:%G %a' /var/lib/binder /var/lib/binder/journal.db | paste -sd,)" "binder:binder 700,binder:binder 600"
