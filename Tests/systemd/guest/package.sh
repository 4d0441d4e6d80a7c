# The package: installation, upgrade with a connected client, removal, purge. Uses nothing but the package.
#   environment: PACKAGE, UPGRADE  two versions of the package
#                WITH_APT          not empty: apt installs it and what it depends on
source "$(dirname "$0")/common.sh"
export DEBIAN_FRONTEND=noninteractive
hash -r
# Changes a package, and shows the output of a failure.
package() { # install, remove or purge; file or name
    local words=(dpkg "--$1" "$2")
    [ -z "${WITH_APT:-}" ] || words=(apt-get -qq -y -o Dpkg::Use-Pty=0 -o APT::Sandbox::User=root --no-install-recommends --reinstall "$1" "$2")
    "${words[@]}" < /dev/null > /tmp/log 2>&1 || { cat /tmp/log; fail "${words[*]}"; }
}
set_cell() { bindctl set "cells/$1" "$2" > /dev/null; }
get_cell() { bindctl get "cells/$1"; }
rm -f /usr/sbin/policy-rc.d # images of containers forbid to start services
rm -f /var/lib/man-db/auto-update # the index of all pages takes seconds
files() { find /usr /etc /var/lib -name '*binder*' -not -path '*/apt/*' -not -path "$project/*" 2> /dev/null | sort; }
before=$(files)
# Units of an earlier installation below /usr/local would be used instead.
[ ! -e /usr/local/lib/systemd/system/binderd.socket ] || fail "binderd is installed already"
dpkg-query -W binderd > /dev/null 2>&1 && fail "the package is installed already"

package install "$PACKAGE"
grep -q 'bindctl doctor' /tmp/log || fail "the package does not say how to begin"
same "the program" "$(command -v binderd)" /usr/bin/binderd
same "the user" "$(id -gn binder)" binder
same "the socket" "$(show ActiveState binderd.socket)/$(systemctl is-enabled binderd.socket)" active/enabled
# Bindings run from the boot on, without a client.
same "the service before a client" "$(show ActiveState)/$(systemctl is-enabled binderd.service || true)" active/enabled
[ -e /etc/systemd/system/multi-user.target.wants/binderd.service ] || fail "the service does not start at boot"
same "the timer" "$(show ActiveState binderd-backup.timer)/$(systemctl is-enabled binderd-backup.timer || true)" inactive/disabled
same "the directory of backups" "$(stat -c '%U:%G %a' /var/backups/binder)" "binder:binder 700"
set_cell lamp true
same "the service after a client" "$(show ActiveState)/$(show StatusText)" active/serving
same "who runs it" "$(stat -c %U "/proc/$(show MainPID)")" binder
same "the configuration file" "$(dpkg-query -W -f '${Conffiles}' binderd | awk '{print $1}' | paste -sd' ')" /etc/binder/binder.conf
for file in /usr/share/man/man1/bindctl.1.gz /usr/share/man/man5/binder.conf.5.gz /usr/share/man/man7/binder-protocol.7.gz \
    /usr/share/man/man8/binderd.8.gz /usr/share/bash-completion/completions/bindctl /usr/share/zsh/vendor-completions/_bindctl \
    /usr/share/fish/vendor_completions.d/bindctl.fish /usr/share/doc/binderd/{copyright,changelog.gz,binder.conf.schema.json} \
    /usr/lib/systemd/user/binderd.socket; do
    dpkg-query -L binderd | grep -qxF "$file" || fail "$file is missing"
done
same "modified files" "$(dpkg --verify binderd)" ""
/usr/bin/binderd --check-config --quiet || fail "the installed configuration is wrong"
systemctl start binderd-backup.service || fail "the backup fails"
same "the backups" "$(find /var/backups/binder -name '*.db' | wc -l)" 1

# The upgrade: the configuration of the administrator stays, and a client continues.
echo '{ "limits": { "subs": 77 } } // ours' > /etc/binder/binder.conf
( trap - ERR EXIT; exec bindctl watch 'cells/**' > /tmp/watched 2> /tmp/notes ) &
watcher=$!
saw() { grep -q "$1" /tmp/watched; }
eventually saw live
eventually has NFileDescriptorStore 2 # the watcher, and what describes it
main=$(show MainPID)
package install "$UPGRADE"
grep -q 'bindctl doctor' /tmp/log && fail "an upgrade says how to begin"
same "the version" "$(dpkg-query -W -f '${Version}' binderd)" "$(dpkg-deb -f "$UPGRADE" Version)"
eventually has SubState running
[ "$(show MainPID)" != "$main" ] || fail "the upgrade leaves the old process"
same "lamp after the upgrade" "$(get_cell lamp)" true
set_cell door open
eventually saw door
same "what the watcher has noticed of the upgrade" "$(cat /tmp/notes)" ""
kill "$watcher"
wait "$watcher" || true
same "the configuration after the upgrade" "$(cat /etc/binder/binder.conf)" '{ "limits": { "subs": 77 } } // ours'
same "the limit" "$(bindctl stats --limits -j | grep -o '"subs":[0-9]*' | head -1)" '"subs":77'

# What an administrator has switched off stays off.
systemctl disable --quiet --now binderd.socket binderd.service
package install "$UPGRADE"
same "the socket of an administrator" "$(show ActiveState binderd.socket)/$(systemctl is-enabled binderd.socket || true)" inactive/disabled
same "the service of an administrator" "$(show ActiveState)/$(systemctl is-enabled binderd.service || true)" inactive/disabled
systemctl enable --quiet --now binderd.socket
same "lamp, switched on again" "$(get_cell lamp)" true

# Removed: the data and the configuration stay.
package remove binderd
same "the units" "$(show LoadState binderd.socket)/$(show ActiveState)" not-found/inactive
[ ! -e $socket ] || fail "the socket file stays"
[ ! -e /usr/bin/binderd ] || fail "the program stays"
[ -s /var/lib/binder/journal.db ] || fail "the journal is gone"
[ -s /etc/binder/binder.conf ] || fail "the configuration is gone"
package install "$PACKAGE"
same "lamp, installed again" "$(get_cell lamp)" true

# Purged: nothing stays but the user and the backups.
package purge binderd
same "what is left" "$(files)" "$before"
same "the backups after the purge" "$(find /var/backups/binder -name '*.db' | wc -l)" 1
same "failed units" "$(systemctl list-units --failed --plain --no-legend 'binder*')" ""
