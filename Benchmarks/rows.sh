# shellcheck shell=bash disable=SC2154
# The rows of Scripts/bench, one `measure_ROW` each.

# MARK: Requests and answers

ping_round() {
  for depth in 1 32; do
    load ping binderd binder -P $depth -d "$seconds"; keep ping-$depth binderd rate
    load ping redis redis -P $depth -d "$seconds"; keep ping-$depth redis rate
    load ping floor binder -P $depth -d "$seconds"; keep ping-$depth floor rate
  done
}

measure_ping() {
  serve_binderd binderd os; serve_redis redis no; serve_floor floor
  each_round ping_round
  discard binderd redis floor
}

get_round() {
  for depth in 1 32; do
    load get binderd binder -P $depth -d "$seconds"; keep get-$depth binderd rate
    load get redis redis -P $depth -d "$seconds"; keep get-$depth redis rate
  done
}

measure_get() {
  serve_binderd binderd os; serve_redis redis no
  load set binderd binder -P 32 -n 10000; load set redis redis -P 32 -n 10000
  each_round get_round
  discard binderd redis
}

set_round() {
  for depth in 1 32; do
    load set binderd binder -P $depth -d "$seconds"; keep set-$depth binderd rate
    load set redis redis -P $depth -d "$seconds"; keep set-$depth redis rate
    has etcd || continue
    load set etcd etcd -P $depth -d "$seconds"; keep set-$depth etcd rate
  done
  load set os binder -P 32 -d "$seconds"; keep set-os-32 binderd rate
  load set memory redis -P 32 -d "$seconds"; keep set-os-32 redis rate
}

measure_set() {
  serve_binderd binderd always; serve_redis redis yes
  serve_binderd os os; serve_redis memory no
  if has etcd; then serve_etcd etcd; fi
  each_round set_round
  discard binderd redis os memory etcd
}

# A call through a provider, beside a get on as many connections. The provider is a process of its own.
call_round() {
  for depth in 1 32; do
    load call binderd binder -P $depth -d "$seconds"; keep call-$depth binderd server_us
    load get binderd binder -P $depth -d "$seconds"; keep call-$depth get server_us
  done
}

measure_call() {
  echo '{"limits": {"inflight_all": 16384}}' >"$home/call.conf"
  serve_binderd binderd os --config "$home/call.conf"
  load set binderd binder -P 32 -n 10000
  "$bin/load" provide -u "${place[binderd]}" 2>"$home/provide.err" &
  server[provider]=$!
  "$bindctl" --socket "${place[binderd]}" wait 'providers/bench exists' >"$home/out"
  each_round call_round
  discard provider binderd
}

lock_round() {
  load lock binderd binder -c 100 -d "$seconds"
  keep lock-p50 binderd p50; keep lock-p99 binderd p99
}

measure_lock() {
  serve_binderd binderd always
  each_round lock_round
  discard binderd
}

# MARK: Watchers

fanout_round() {
  for watchers in 100 1000; do
    local options=(-c "$watchers" -P 64 -d "$seconds")
    load fanout binderd binder "${options[@]}" -m; keep fanout-$watchers binderd rate
    load fanout binderd binder "${options[@]}" -m -H; keep handles-$watchers binderd rate
    load fanout redis redis "${options[@]}"
    for row in fanout handles; do keep $row-$watchers redis rate; done
    if has nats; then load fanout nats nats "${options[@]}"; keep fanout-$watchers nats rate; fi
    has mosquitto || continue
    load fanout mosquitto mqtt "${options[@]}"; keep fanout-$watchers mosquitto rate
  done
}

measure_fanout() {
  serve_binderd binderd os; serve_redis redis no
  if has nats; then serve_nats nats; fi
  if has mosquitto; then serve_mosquitto mosquitto; fi
  each_round fanout_round
  discard binderd redis nats mosquitto
}

latency_round() {
  local redis options=(-c 100 -d "$seconds")
  load latency binderd binder "${options[@]}"
  keep latency-p50 binderd p50; keep latency-p99 binderd p99
  load latency redis redis "${options[@]}"
  keep latency-p50 redis p50; keep latency-p99 redis p99
  redis="$(figure p50) $(figure p99) $(figure server_us)"
  if has nats; then load latency nats nats "${options[@]}"; keep latency-p50 nats p50; fi
  if has mosquitto; then
    load latency mosquitto mqtt "${options[@]}"; keep latency-p50 mosquitto p50
  fi
  load latency durable binder "${options[@]}"
  keep durable-p50 binderd p50; keep durable-p99 binderd p99
  if has etcd; then
    load latency etcd etcd "${options[@]}"
    keep durable-p50 etcd p50; keep durable-p99 etcd p99
  fi
  # redis answers a PUBLISH without the disk, so add an append of this disk.
  run "$bin/load" disk -f "$home/disk" -d "$seconds"
  say disk
  read -r p50 p99 us <<<"$redis"
  keep_value durable-p50 redis "$(sum "$p50" "$(figure p50)")" "$us"
  keep_value durable-p99 redis "$(sum "$p99" "$(figure p99)")" "$us"
}

sum() { awk -v a="$1" -v b="$2" 'BEGIN { print a + b }'; }

measure_latency() {
  serve_binderd binderd os; serve_binderd durable always; serve_redis redis no
  if has nats; then serve_nats nats; fi
  if has mosquitto; then serve_mosquitto mosquitto; fi
  if has etcd; then serve_etcd etcd; fi
  each_round latency_round
  discard binderd durable redis nats mosquitto etcd
}

# The default quota of the state is too small for 1,000,000 cells.
large_config() { echo '{"limits": {"state": 4294967296}}' >"$home/large.conf"; }

pattern_round() {
  load pattern binderd binder -g -k 1000000 -d "$seconds"
  keep pattern-p50 binderd p50; keep pattern-p99 binderd p99
}

measure_pattern() {
  large_config
  serve_binderd binderd os --config "$home/large.conf"
  load set binderd binder -g -P 32 -k 1000000 -n 1000000
  each_round pattern_round
  discard binderd
}

subs_round() {
  load set binderd binder -P 32 -d "$seconds" -i 10000; keep subs binderd server_us
  load set binderd binder -P 32 -d "$seconds"; keep subs without server_us
}

measure_subs() {
  serve_binderd binderd os
  load set binderd binder -P 32 -n 10000
  each_round subs_round
  discard binderd
}

view_round() {
  load latency binderd binder -o people -c 1000 -d "$seconds"
  keep view-us binderd server_us; keep view-p50 binderd p50
  load latency binderd binder -o person -c 1000 -d "$seconds"
  keep view-us person server_us; keep view-p50 person p50
}

measure_view() {
  serve_binderd binderd os
  load create binderd binder -P 32 -n 10000
  each_round view_round
  discard binderd
}

# MARK: Memory. Each needs a new server: one that has served as many clients already has the memory.

idle_round() {
  for clients in 1000 10000; do
    if (($(ulimit -Hn) < clients + 200)); then
      skip idle-$clients "'ulimit -Hn' is below $((clients + 200))"
      continue
    fi
    serve_binderd binderd os
    load idle binderd binder -c $clients; keep idle-$clients binderd each
    discard binderd
    serve_redis redis no
    load idle redis redis -c $clients; keep idle-$clients redis each
    discard redis
  done
}

measure_idle() { each_round idle_round; }

rss_round() {
  serve_binderd binderd always
  load memory binderd binder; keep rss binderd rss
  discard binderd
  serve_redis redis yes
  load memory redis redis; keep rss redis rss
  discard redis
}

measure_rss() { each_round rss_round; }

# The memory of 1,000,000 cells, and the stop of a server that has them.
cells_of() { # who, protocol
  local empty full
  load memory "$1" "$2"; empty=$(figure private)
  load set "$1" "$2" -P 32 -k 1000000 -n 1000000
  load memory "$1" "$2"; full=$(figure private)
  # A name has 12 bytes, a value 60.
  keep_value cell "$1" "$(awk -v k=$((full - empty)) 'BEGIN { print k * 1024 / 1e6 - 72 }')"
  [ "$1" = redis ] || keep stop-peak before rss
  run "$bin/load" stop -s "${server[$1]}"
  say "stop $1"
  forget "$1"
  keep stop "$1" ms
  [ "$1" = redis ] || keep stop-peak "$1" peak
  discard "$1"
}

cells_round() {
  serve_binderd binderd os --config "$home/large.conf"
  cells_of binderd binder
  redis_command redis no
  command+=(--save '3600 1') # not before an hour, but at its stop
  serve redis redis
  cells_of redis redis
}

measure_cells() {
  large_config
  each_round cells_round
}

# MARK: Starts

# Measures the start of $command, and kills it, so that its files stay unchanged.
start_one() { # name, protocol
  run "$bin/load" start -u "${place[$1]}" -p "$2" -- "${command[@]}"
  say "start $1"
  rm -f "$home/$1.sock"
}

start_round() {
  # A daemon may save a snapshot after its start, so remove it each time.
  sqlite3 "$home/plain.db" 'DELETE FROM snapshot; PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
  binderd_command plain always
  start_one plain binder; keep start-plain binderd ms
  binderd_command snapshot always
  start_one snapshot binder; keep start-snapshot binderd ms
  redis_command file yes
  start_one file redis; keep start-plain redis ms; keep start-snapshot redis ms
}

# Prints the position up to which all services have snapshots.
snapshot_position() { # name
  sqlite3 "$home/$1.db" \
    'SELECT ifnull(min(last), 0) FROM (SELECT max(seq) AS last FROM snapshot GROUP BY service)'
}

# Writes a journal of 1,000,000 events over 100,000 cells with a snapshot near its end. The daemon
# saves one after every 100,000 events, but not under load, so wait after each part.
write_journal() { # name
  serve_binderd "$1" os
  for part in {1..10}; do
    load set "$1" binder -P 32 -k 100000 -n 100000
    for ((tenth = 0; tenth < 100; tenth++)); do
      (($(snapshot_position "$1") < part * 100000)) || break
      sleep 0.1
    done
  done
  end "$1"
  echo "  the snapshot is at $(snapshot_position "$1")" >&2
  (($(snapshot_position "$1") >= 900000)) || { echo "bench: too far from the end" >&2; exit 1; }
}

# Writes the same values with redis.
write_append_only_file() { # name
  redis_command "$1" yes
  # Only while writing; it does not affect a start.
  command+=(--appendfsync no)
  serve "$1" redis
  load set "$1" redis -P 32 -k 100000 -n 1000000
  end "$1"
}

measure_start() {
  write_journal snapshot
  cp "$home/snapshot.db" "$home/plain.db"
  write_append_only_file file
  each_round start_round
  rm -rf "$home"/{snapshot,plain,file}.*
}

# MARK: Rows that take minutes

measure_worst() {
  run env ROUNDS="$rounds" SECONDS_EACH="$seconds" python3 Benchmarks/faults.py "$binderd"
  cat "$home/out" >&2
  keep_worst worst-ping 4
  keep_worst worst-commit 7
}

# Records the row of the faults with the highest ratio: the p99, and the p99 beside a good client.
keep_worst() { # row, column of the p99; the ratio follows it
  local p99 good
  read -r p99 good < <(awk -F' *[|] *' -v column="$2" '
    /^\| (nobody|a good|beside)|^\|-/ { next }
    $(column + 1) > ratio { ratio = $(column + 1); p99 = $column }
    END { gsub(",", "", p99); print p99, p99 / ratio }' "$home/out")
  keep_value "$1" binderd "$p99"
  keep_value "$1" good "$good"
}

measure_compaction() {
  run python3 Benchmarks/journal.py "$binderd"
  cat "$home/out" >&2
  keep_value compaction binderd "$(sed -n 's/.*the longest \([0-9.]*\) ms.*/\1/p' "$home/out")"
}

events_round() {
  binderd_command events os
  start_one events binder; keep events-start binderd ms
  serve_binderd events os
  load resume events binder -n 10000000; keep events-resume binderd rate
  if [ -x "$bindctl" ]; then
    local begin=$EPOCHREALTIME
    run env BINDER_SOCKET="${place[events]}" "$bindctl" events -n 10
    keep_value events-tail binderd \
      "$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { print (b - a) * 1000 }')"
  fi
  end events
}

measure_events() {
  serve_binderd events os
  load set events binder -P 32 -k 100000 -n 10000000
  end events
  keep_value events-size binderd "$(($(stat -c %s "$home/events.db") >> 20))"
  [ -x "$bindctl" ] || skip events-tail "no bindctl beside binderd"
  each_round events_round
  discard events
}
