# The package of binder-web: off until somebody starts it; the page is whole, with the library of charts.
#   environment: PACKAGES  directory of the packages
source "$(dirname "$0")/common.sh"
dpkg -i "$PACKAGES"/*.deb > /dev/null
same "the unit after the installation" "$(systemctl is-enabled binder-web.socket || true)" disabled
same "the socket after the installation" "$(show ActiveState binder-web.socket)" inactive
systemctl start binderd.socket
bindctl web > /tmp/address 2> /dev/null &
eventually test -s /tmp/address
same "the files of the page" "$(/usr/bin/python3 - "$project" << 'END'
import sys
sys.path.insert(0, f"{sys.argv[1]}/Tests/web")
from support import Session
session = Session(open("/tmp/address").read().strip())
print(*[session.get(path).status for path in ("/", "/main.js", "/client/connection.js", "/charts/chart.mjs", "/nothing.js")])
END
)" "200 200 200 200 404"
kill $!
dpkg -P binder-web > /dev/null
same "what is left" "$(find /usr /etc /run -name '*binder-web*' -not -path "$project/*" 2> /dev/null)" ""
