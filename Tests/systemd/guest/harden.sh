# The hardening must not break peer credentials, system figures and the descriptor limit.
source "$(dirname "$0")/common.sh"
install_units
useradd --groups binder alice
connections=$(runuser -u alice -- socat -t 60 - UNIX-CONNECT:$socket <<< '{"id":1,"method":"get","params":{"source":"daemon/connections"}}')
same "alice for the daemon" "$(jq -r '.result.value[0].uid' <<< "$connections")" "$(id -u alice)"
for source in load memory cpu uptime; do
    value=$(request "{\"id\":1,\"method\":\"get\",\"params\":{\"source\":\"system/$source\"}}" | jq -c .result.value)
    case $value in null | '{}' | '[]' | '') fail "system/$source is '$value'" ;; esac
done
main=$(show MainPID)
# No network without the drop-in.
subscribe='{"id":1,"method":"feeds.subscribe","params":{"url":"http://203.0.113.1/feed","id":"news"}}'
request "$subscribe" | jq -e .result.value > /dev/null || fail "no feed is subscribed"
reason() { request '{"id":1,"method":"get","params":{"source":"feeds/news"}}' | jq -r '.result.error.message'; }
loaded() { [[ $(reason) != null ]]; }
eventually loaded
[[ $(reason) == *"network.conf"* ]] || fail "a feed without network says '$(reason)'"
install -D -m 644 "$project/systemd/drop-ins/network.conf" /etc/systemd/system/binderd.service.d/network.conf
systemctl daemon-reload
systemctl restart binderd.service
request '{"id":1,"method":"feeds.refresh","params":["news"]}' > /dev/null
reached() { [[ $(reason) != null && $(reason) != *"network.conf"* ]]; }
eventually reached
main=$(show MainPID)
allowed=$(awk '/open files/ {print $5}' /proc/1/limits) # in a container less than in the unit
same "descriptors" "$(awk '/open files/ {print $4}' "/proc/$main/limits")" $((allowed < 65536 ? allowed : 65536))
same "capabilities" "$(awk '/^Cap(Prm|Eff|Bnd)/ {print $2}' "/proc/$main/status" | sort -u)" 0000000000000000
same "seccomp, no new privileges" "$(awk '/^(Seccomp|NoNewPrivs):/ {print $2}' "/proc/$main/status" | paste -sd,)" 1,2
