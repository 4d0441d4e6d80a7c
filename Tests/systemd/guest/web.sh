# binder-web serves a reverse proxy: off by default, started by the first request, in its sandbox.
source "$(dirname "$0")/common.sh"
install_units
same "the socket after the installation" "$(systemctl is-enabled binder-web.socket || true)" disabled
cat > /etc/binder/binder.conf << 'END'
{ "gateways": [{ "user": "binder-web", "names": { "kim@example.org": 61000 } }],
  "roles": [{ "name": "guest", "users": [61000], "read": ["cells/**"] }] }
END
mkdir -p /etc/systemd/system/binder-web.service.d
printf '[Service]\nEnvironment=BINDER_WEB_NAMES=board.example.org\n' > /etc/systemd/system/binder-web.service.d/names.conf
systemctl daemon-reload
systemctl enable --quiet --now binder-web.socket
same "the service before a request" "$(show ActiveState binder-web.service)" inactive
same "the socket file" "$(stat -c '%U:%G %a' /run/binder-web/http.sock)" "binder-web:www-data 660"
set_cell lamp true

# Asks for the page and a value as a user of the system, and prints the status, the role and the value.
ask() { # user
    /usr/bin/python3 - "$project" "$1" << 'END'
import os, pwd, sys
sys.path.insert(0, f"{sys.argv[1]}/Tests/web")
from support import Answer, WebSocket, send_raw
user = pwd.getpwnam(sys.argv[2])
os.setgroups([])
os.setgid(user.pw_gid)
os.setuid(user.pw_uid)
path, host, name = "/run/binder-web/http.sock", "board.example.org", ("X-Remote-User", "kim@example.org")
page = Answer(send_raw(path, f"GET / HTTP/1.1\r\nHost: {host}\r\n{': '.join(name)}\r\nConnection: close\r\n\r\n".encode()))
browser = WebSocket(path, host, origin=f"https://{host}", headers=[name])
peer = browser.call("hello")["result"]["peer"]
print(page.status, "<title>Binder" in page.text, peer["uid"], peer["role"], browser.call("get", {"source": "cells/lamp"})["result"]["value"])
END
}

same "what a browser gets" "$(ask www-data)" "200 True 61000 guest True"
main=$(show MainPID binder-web.service)
same "who runs it" "$(stat -c %U "/proc/$main")" binder-web
same "the sandbox" "$(grep -E '^(Seccomp|NoNewPrivs|CapEff)' "/proc/$main/status" | tr -d '\t' | sort | paste -sd' ')" \
    "CapEff:0000000000000000 NoNewPrivs:1 Seccomp:2 Seccomp_filters:$(sed -n 's/^Seccomp_filters:\t//p' "/proc/$main/status")"
same "the network" "$(nsenter --target "$main" --net ls /sys/class/net)" lo
refusal=$(ask nobody 2>&1) && fail "nobody is let in: $refusal"
[[ $refusal == *"Permission denied"* ]] || fail "nobody hears '$refusal'"

# Browsers find it again after a kill.
kill -9 "$main"
eventually has ActiveState active binder-web.service
same "what a browser gets after a kill" "$(ask www-data)" "200 True 61000 guest True"
[ "$(show MainPID binder-web.service)" != "$main" ] || fail "it is the same process"
systemctl stop binder-web.socket binder-web.service
[ ! -e /run/binder-web/http.sock ] || fail "the socket file stays"
