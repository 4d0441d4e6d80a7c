#!/bin/dash
# The driver of the client in the shell; `run` describes its lines.

# shellcheck source=../shell/binder.sh
. "$(dirname "$0")/../shell/binder.sh"

# Prints what a function has printed, as a result or as an error.
answer() { # function arguments…
  # The error goes through a file, because both outputs are needed.
  if result=$("$@" 2> "$errors"); then
    printf '{"result":%s}\n' "$result"
  else
    printf '{"error":%s}\n' "$(cat "$errors")"
  fi
}

many() { # number name
  for _ in $(seq "$1"); do
    binder_command cells.add "{\"name\":\"$2\"}" > /dev/null || return
  done
  echo '{}'
}

calls() {
  while read -r kind method rest; do
    case $kind in
      many) answer many "$method" "$rest" ;;
      *) answer "binder_$kind" "$method" "$rest" ;;
    esac
  done
}

# Prints an update when the driver is asked for one.
each() { # update
  case $1 in
    *'"type":"subscribed"'*) echo '{"ready":true}' ;;
    *) read -r _ && printf '%s\n' "$1" ;;
  esac
}

watch() { # source options cursor
  binder_subscribe "$1" "$2" "$3" each 2> "$errors" || {
    read -r _ && printf '{"error":%s}\n' "$(cat "$errors")"
  }
}

errors=$(mktemp)
trap 'rm "$errors"' EXIT
if binder_connect "" driver 2> "$errors"; then
  case $1 in
    calls) calls ;;
    watch) watch "$2" "$3" "$4" ;;
  esac
else
  printf '{"error":%s}\n' "$(cat "$errors")"
fi
