# Shared helpers. Each guest script runs as root in its own container, so no cleanup is needed.
#   environment: BINDERD_BIN  directory of binderd
set -Eeuo pipefail
export SYSTEMD_COLORS=0
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
socket=/run/binder/bus.sock
trap 'echo "FAILED: line $LINENO of $BASH_SOURCE: $BASH_COMMAND"' ERR
trap '[ $? = 0 ] || tell_why' EXIT

# Prints diagnostics after a failed test.
tell_why() {
    systemctl --no-pager --full status binderd.service binderd.socket || true
    journalctl --no-pager --quiet --output=short-precise --unit=binderd.service --unit=binderd.socket | tail -40
}

fail() { echo "FAILED: $*"; exit 1; }

# Fails and prints both values if they differ.
same() { # what actual expected
    [ "$2" = "$3" ] || fail "$1 is '$2', not '$3'"
}

# Retries a command until it succeeds, for at most a minute: on a busy machine everything takes long.
eventually() {
    local end=$((SECONDS + 60))
    while [ "$SECONDS" -lt "$end" ]; do
        if "$@" > /dev/null 2>&1; then return; fi
        sleep .05
    done
    fail "a minute, and never: $*"
}

# Sends a request and prints the answer.
request() { # json
    socat -t 60 - "UNIX-CONNECT:$socket" <<< "$1"
}

set_cell() { # name json
    request "{\"id\":1,\"method\":\"cells.set\",\"params\":{\"name\":\"$1\",\"value\":$2}}" | jq -e .result.seq > /dev/null
}

get_cell() { # name
    request "{\"id\":1,\"method\":\"get\",\"params\":{\"source\":\"cells/$1\"}}" | jq -c '.result.value'
}

# Prints a property of a unit.
show() { # property [unit]
    systemctl show --value --property="$1" "${2:-binderd.service}"
}

has() { # property value [unit]
    [ "$(show "$1" "${3:-binderd.service}")" = "$2" ]
}

# Finds log lines about the daemon, by the service manager or the daemon itself.
logged() { # text
    journalctl --sync
    journalctl --quiet --output=cat --unit=binderd.service --grep="$1"
}

# Installs as an administrator does; the first client starts the daemon.
install_units() {
    "$project/Scripts/install" > /dev/null
    systemctl enable --quiet --now binderd.socket
}

# Overrides settings of the service.
override() { # lines...
    mkdir -p /etc/systemd/system/binderd.service.d
    printf '%s\n' '[Service]' "$@" > /etc/systemd/system/binderd.service.d/test.conf
    systemctl daemon-reload
}
