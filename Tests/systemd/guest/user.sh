# The user units, in the service manager of a user.
source "$(dirname "$0")/common.sh"
useradd --create-home alice
uid=$(id -u alice)
install -d -m 700 -o alice "/run/user/$uid"
# Does the work of user@.service, without logind.
systemd-run --quiet --unit=manager -p User=alice -p Type=notify -p Delegate=yes -p 'WorkingDirectory=~' \
    -p Environment="XDG_RUNTIME_DIR=/run/user/$uid" /lib/systemd/systemd --user
as_alice() { runuser -u alice -- env -C /home/alice HOME=/home/alice XDG_RUNTIME_DIR="/run/user/$uid" BINDERD_BIN="$BINDERD_BIN" "$@"; }
show() { as_alice systemctl --user show --value --property="$1" "${2:-binderd.service}"; }
socket=/run/user/$uid/binder/bus.sock
# In the sandbox of a user service root is nobody, so the clients run as the user.
request() { as_alice socat -t 60 - "UNIX-CONNECT:$socket" <<< "$1"; }

next=$(as_alice "$project/Scripts/install" --user)
[[ $next == *"next: systemctl --user enable --now binderd.socket"* ]] || fail "no next step: $next"
as_alice systemctl --user --quiet enable --now binderd.socket
same "the service before a client" "$(show ActiveState)" inactive
same "the socket file" "$(stat -c '%U %a' "$socket")" "alice 600"
# Mount namespaces fail here until the first sandboxed system service has created this directory.
[ ! -e /run/systemd/unit-root ] || fail "this machine can do it already"
dropins=/home/alice/.config/systemd/user/binderd.service.d
as_alice install -D -m 644 "/home/alice/.local/share/doc/binderd/no-namespaces.conf" "$dropins/no-namespaces.conf"
as_alice systemctl --user daemon-reload
set_cell lamp false
same "the service without namespaces" "$(show ActiveState)/$(show StatusText)" active/serving
rm -r "$dropins"
mkdir -m 0 /run/systemd/unit-root
as_alice systemctl --user daemon-reload
as_alice systemctl --user restart binderd.service
same "lamp in the sandbox" "$(get_cell lamp)" false
set_cell lamp true
same "the service after a client" "$(show ActiveState)/$(show StatusText)" active/serving
same "the journal" "$(stat -c '%U %a' /home/alice/.local/state/binder/journal.db)" "alice 600"
main=$(show MainPID)
as_alice systemctl --user reload binderd.service
same "the process after a reload" "$(show MainPID)" "$main"
same "the root that the daemon sees" "$(awk '$5 == "/" { print substr($6, 1, 2) }' "/proc/$main/mountinfo")" ro
kill -KILL "$main"
eventually has NRestarts 1
same "lamp after a kill" "$(get_cell lamp)" true
as_alice "$project/Scripts/install" --user --remove > /dev/null
[ ! -e "$socket" ] || fail "the socket stays"
