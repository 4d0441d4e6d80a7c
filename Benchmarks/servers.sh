# shellcheck shell=bash disable=SC2154
# Starts and ends the servers and loads of Scripts/bench.

declare -A server=() # name → pid
declare -A place=()  # name → path of the socket, or port
declare -A missing=() # peer or row → why it is not measured
job=
home=

# Ends the processes started here, and removes the directory.
clean() {
  trap - EXIT
  # A second signal must not interrupt this.
  trap '' INT TERM HUP
  [ -z "$job" ] || kill "$job" 2>/dev/null || true
  for name in "${!server[@]}"; do kill -KILL "${server[$name]}" 2>/dev/null || true; done
  wait 2>/dev/null
  [ -z "$home" ] || rm -rf "$home"
}

# Runs a command as a job, so that signals are handled at once; its output is in $home/out.
run() {
  "$@" >"$home/out" 2>"$home/run.err" &
  job=$!
  local code=0
  wait "$job" || code=$?
  job=
  [ "$code" = 0 ] && return
  echo "bench: failed with $code: $*" >&2
  cat "$home"/*.err "$home"/*.log >&2 2>/dev/null || true
  exit 1
}

# MARK: Servers. Each name has its own socket or port, and files.

binderd_command() { # name, durability, more options of binderd…
  place[$1]=$home/$1.sock
  command=("$binderd" --socket "$home/$1.sock" --journal "$home/$1.db" --durability "$2" "${@:3}")
}

redis_command() { # name, appendonly
  place[$1]=$home/$1.sock
  command=("$bin/redis-server" --port 0 --unixsocket "$home/$1.sock" --save '' --maxclients 10100
    --dir "$home" --dbfilename "$1.rdb" --appenddirname "$1.aof" --appendonly "$2"
    --appendfsync always --aof-use-rdb-preamble no --auto-aof-rewrite-percentage 0
    --logfile "$home/$1.log")
}

nats_command() { # name
  place[$1]=$("$bin/load" port)
  command=("$(peer_program nats-server)" -a 127.0.0.1 -p "${place[$1]}" -l "$home/$1.log")
}

mosquitto_command() { # name
  place[$1]=$home/$1.sock
  printf '%s\n' "listener 0 $home/$1.sock" "allow_anonymous true" "persistence false" \
    "set_tcp_nodelay true" "user $(id -un)" "log_dest file $home/$1.log" >"$home/$1.conf"
  command=("$(peer_program mosquitto)" -c "$home/$1.conf")
}

etcd_command() { # name
  place[$1]=$("$bin/load" port)
  local client=http://127.0.0.1:${place[$1]} peer
  peer=http://127.0.0.1:$("$bin/load" port)
  command=("$(peer_program etcd)" --name bench --data-dir "$home/$1.etcd"
    --listen-client-urls "$client" --advertise-client-urls "$client"
    --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer"
    --initial-cluster "bench=$peer" --logger zap --log-level error)
}

# Prints the path of a peer's program: that of the system, or the one that Scripts/packages unpacked.
peer_program() {
  PATH=$PATH:/usr/sbin:$bin/peers/usr/sbin:$bin/peers/usr/bin command -v "$1"
}

# Succeeds if a peer can be measured; otherwise notes why not, for the table.
has() { # peer
  local program=$1
  [ "$1" != nats ] || program=nats-server
  [ -z "${missing[$1]:-}" ] || return 1
  if [[ " $peers " != *" $1 "* ]]; then
    skip "$1" "not in PEERS"
  elif ! peer_program "$program" >/dev/null; then
    skip "$1" "no $program"
  elif ldd "$(peer_program "$program")" 2>&1 | grep -q 'not found'; then
    skip "$1" "$program misses libraries"
  else
    return 0
  fi
  return 1
}

# Notes why a peer or a row is not measured.
skip() { # peer or row, reason
  missing[$1]=$2
  echo "bench: $1 is not measured: $2" >&2
}

# Starts $command under a name and waits until it answers.
serve() { # name, protocol
  "${command[@]}" >"$home/$1.err" 2>&1 &
  server[$1]=$!
  run "$bin/load" ping -u "${place[$1]}" -p "$2" -c 1 -n 1
}

serve_binderd() { binderd_command "$@"; serve "$1" binder; }
serve_redis() { redis_command "$@"; serve "$1" redis; }
serve_nats() { nats_command "$1"; serve "$1" nats; }
serve_mosquitto() { mosquitto_command "$1"; serve "$1" mqtt; }
serve_etcd() { etcd_command "$1"; serve "$1" etcd; }
serve_floor() {
  place[$1]=$home/$1.sock
  command=("$bin/floor" "$home/$1.sock")
  serve "$1" binder
}

# Ends servers in order; their files stay.
end() { # name…
  for name in "$@"; do
    kill "${server[$name]}"
    forget "$name"
  done
}

# Waits for the end of a server; its files stay.
forget() { # name
  wait "${server[$1]}" || true
  unset "server[$1]"
  rm -f "$home/$1.sock"
}

# Ends servers and removes their files. Names without a server are ignored.
discard() { # name…
  for name in "$@"; do
    [ -z "${server[$name]:-}" ] || end "$name"
    rm -rf "$home/$name".*
  done
}

# MARK: Figures

round=1

say() { echo "  $* → $(cat "$home/out")" >&2; }

load() { # mode, name of the server, protocol, options…
  local mode=$1 name=$2 protocol=$3
  shift 3
  run "$bin/load" "$mode" -u "${place[$name]}" -p "$protocol" -s "${server[$name]}" "$@"
  say "$name $mode $*"
}

# Prints a figure of the last measurement, or - if there is none.
figure() { # word
  local found
  found=$(grep -o "\b$1=[0-9.-]*" "$home/out" | cut -d= -f2) || true
  echo "${found:--}"
}

# Records a figure of the last measurement, with processor time and memory if it has them.
keep() { # row, who, word
  keep_value "$1" "$2" "$(figure "$3")" "$(figure server_us)" "$(figure private)" "$(figure pss)"
}

keep_value() { # row, who, figure [, processor time, private dirty, PSS]
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$round" "$3" "${4:--}" "${5:--}" "${6:--}" \
    >>"$home/figures"
}

each_round() { # function
  for ((round = 1; round <= rounds; round++)); do
    echo "${1%_round}, round $round of $rounds" >&2
    "$1"
  done
  round=1
}
