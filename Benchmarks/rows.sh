# The rows of Scripts/bench, one `measure_ROW` each.

# MARK: Requests and answers

ping_round() {
  for depth in 1 32; do
    load ping binderd binder -P $depth -d "$seconds"; keep ping-$depth binderd rate
    load get redis redis -P $depth -d "$seconds"; keep ping-$depth redis rate
    load ping floor binder -P $depth -d "$seconds"; keep ping-$depth floor rate
  done
}

measure_ping() {
  serve_binderd binderd os; serve_redis redis no; serve_floor floor
  load set redis redis -P 32 -n 10000
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
  done
}

measure_set() {
  serve_binderd binderd always; serve_redis redis yes
  each_round set_round
  discard binderd redis
}

# MARK: Watchers

fanout_round() {
  for watchers in 100 1000; do
    load fanout binderd binder -c $watchers -P 64 -d "$seconds"; keep fanout-$watchers binderd rate
    load fanout redis redis -c $watchers -P 64 -d "$seconds"; keep fanout-$watchers redis rate
  done
}

measure_fanout() {
  serve_binderd binderd os; serve_redis redis no
  each_round fanout_round
  discard binderd redis
}

latency_round() {
  load latency binderd binder -c 100 -d "$seconds"
  keep latency-p50 binderd p50; keep latency-p99 binderd p99
  load latency redis redis -c 100 -d "$seconds"
  for row in latency durable; do keep $row-p50 redis p50; keep $row-p99 redis p99; done
  load latency durable binder -c 100 -d "$seconds"
  keep durable-p50 binderd p50; keep durable-p99 binderd p99
  run "$bin/load" disk -f "$home/disk" -d "$seconds"
  say disk
  keep durable-p50 disk p50; keep durable-p99 disk p99
}

measure_latency() {
  serve_binderd binderd os; serve_binderd durable always; serve_redis redis no
  each_round latency_round
  discard binderd durable redis
}

# MARK: Memory. Each needs a new server: one that has served as many clients already has the memory.

idle_round() {
  for clients in 1000 10000; do
    if (($(ulimit -Hn) < clients + 200)); then
      echo "bench: no $clients descriptors here" >&2
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

# MARK: Starts

# Measures the start of $command, and kills it, so that its files stay unchanged.
start_one() { # name, protocol
  run "$bin/load" start -u "$home/$1.sock" -p "$2" -- "${command[@]}"
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
