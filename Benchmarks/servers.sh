# Starts and ends the servers and loads of Scripts/bench.

declare -A server=() # name → pid
job=
home=

# Ends the processes started here, and removes the directory.
clean() {
  trap - EXIT INT TERM HUP
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

# MARK: Servers. Each name has its own socket and files.

binderd_command() { # name, durability
  command=("$binderd" --socket "$home/$1.sock" --journal "$home/$1.db" --durability "$2")
}

redis_command() { # name, appendonly
  command=("$bin/redis-server" --port 0 --unixsocket "$home/$1.sock" --save '' --maxclients 10100
    --dir "$home" --appenddirname "$1.aof" --appendonly "$2" --appendfsync always
    --aof-use-rdb-preamble no --auto-aof-rewrite-percentage 0 --logfile "$home/$1.log")
}

# Starts $command under a name and waits until it answers.
serve() { # name, protocol
  "${command[@]}" 2>"$home/$1.err" &
  server[$1]=$!
  run "$bin/load" ping -u "$home/$1.sock" -p "$2" -c 1 -n 1
}

serve_binderd() { binderd_command "$@"; serve "$1" binder; }
serve_redis() { redis_command "$@"; serve "$1" redis; }
serve_floor() { command=("$bin/floor" "$home/$1.sock"); serve "$1" binder; }

# Ends servers in order; their files stay.
end() { # name…
  for name in "$@"; do
    kill "${server[$name]}"
    wait "${server[$name]}" || true
    unset "server[$name]"
    rm -f "$home/$name.sock"
  done
}

# Ends servers and removes their files.
discard() { # name…
  end "$@"
  for name in "$@"; do rm -rf "$home/$name".*; done
}

# MARK: Figures

say() { echo "  $* → $(cat "$home/out")" >&2; }

load() { # mode, name of the server, protocol, options…
  local mode=$1 name=$2 protocol=$3
  shift 3
  run "$bin/load" "$mode" -u "$home/$name.sock" -p "$protocol" -s "${server[$name]}" "$@"
  say "$name $mode $*"
}

# Records a figure of the last measurement.
keep() { # row, who, word
  printf '%s\t%s\t%s\n' "$1" "$2" "$(grep -o "\b$3=[0-9.-]*" "$home/out" | cut -d= -f2)" \
    >>"$home/figures"
}

each_round() { # function
  for ((round = 1; round <= rounds; round++)); do
    echo "${1%_round}, round $round of $rounds" >&2
    "$1"
  done
}
