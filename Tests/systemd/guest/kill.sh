# After a kill, systemd restarts the daemon, and acknowledged writes are kept.
source "$(dirname "$0")/common.sh"
install_units
for value in 1 2 3; do
    set_cell visits $value
    main=$(show MainPID)
    kill -KILL "$main"
    eventually has NRestarts $value
    same "visits" "$(get_cell visits)" $value
    [ "$(show MainPID)" != "$main" ] || fail "the process is the same"
done
same "the service" "$(show ActiveState)" active
same "the socket" "$(show ActiveState binderd.socket)" active
