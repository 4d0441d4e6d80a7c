# shellcheck shell=sh
# A client for binderd, the daemon that keeps the live state of a machine, in POSIX sh.
# It needs socat and jq.
#
#   . ./binder.sh
#   binder_connect
#   binder_set cells/lamp true
#   binder_subscribe cells/lamp | jq --unbuffered -c .value
#
# A function prints a result as one line of JSON. If it fails, it prints an error as one line of JSON
# to stderr and returns
#
#   1  DaemonError: the daemon has refused; `name`, `code` and `data` are the daemon's
#   2  ConnectionFailed: no daemon answers; ConnectionLost: the connection has ended
#   3  OutcomeUnknown: the journal was replaced while a command was in flight
#   4  SubscriptionClosed: another program has ended the subscription of a durable reader
#
# Each function has a connection of its own. Once binder_connect has found a daemon, the others wait
# for it if it is away. jq keeps 17 digits of a number in updates; results are printed as they are.

# The functions with a body in parentheses have variables of their own, and pass them to those that
# they call. A named pipe is read and written at the same time.
# shellcheck disable=SC2030,SC2031,SC2094

# The longest line in bytes that the client takes. A longer value comes in parts.
_binder_line=1048576

# binder_connect [PATH [NAME]]: finds the daemon's socket, and says hello.
#
# Without a path the environment decides, as for bindctl. NAME is shown to the administrator.
binder_connect() {
  _binder_path=${1:-${BINDER_SOCKET:-}}
  _binder_name=${2:-sh}
  _binder_epoch=
  if [ -z "$_binder_path" ]; then
    case ${BINDER_NAME:-binderd} in binderd) _binder_directory=binder ;; *) _binder_directory=$BINDER_NAME ;; esac
    _binder_path=${XDG_RUNTIME_DIR:-/nonexistent}/$_binder_directory/bus.sock
    [ -S "$_binder_path" ] || _binder_path=/run/$_binder_directory/bus.sock
  fi
  _binder_reply=$(_binder_exchange '' ping '{}')
  case $_binder_reply in
    'result '*) _binder_epoch=${_binder_reply#* } _binder_epoch=${_binder_epoch%% *} ;;
    *) _binder_fail "$_binder_reply" ;;
  esac
}

# binder_call METHOD [PARAMS]: calls a method and prints its result.
#
# PARAMS is a JSON object. If the connection is lost, the method may or may not have been run.
binder_call() (
  pause=100
  while :; do
    reply=$(_binder_exchange '' "$1" "${2-"{}"}")
    case $reply in
      'result '*)
        reply=${reply#* }
        printf '%s\n' "${reply#* }"
        return 0
        ;;
      'failed '*) _binder_wait "$reply" ;;
      *) _binder_fail "$reply" || return ;;
    esac
  done
)

# binder_command METHOD [PARAMS [CMD]]: calls a method that changes something, exactly once.
#
# If the connection is lost, it sends the command again with the same CMD, an idempotency key. PARAMS
# must not have `_meta`; pass other options to binder_call, with a `cmd` of your own.
binder_command() (
  cmd=${3:-$(_binder_random 16)}
  params=${2-"{}"}
  rest=${params#*\{}
  # The empty object is the only one without a quotation mark.
  case $params in *\"*) comma=, ;; *) comma='' ;; esac
  params="{\"_meta\":{\"cmd\":\"$cmd\"}$comma$rest"
  pause=100 epoch=
  while :; do
    reply=$(_binder_exchange "$epoch" "$1" "$params")
    case $reply in
      'result '*)
        reply=${reply#* }
        printf '%s\n' "${reply#* }"
        return 0
        ;;
      # The command may have been sent, so the same journal must answer it.
      'lost '*) epoch=$(_binder_word "$reply" 2) epoch=${epoch#-} epoch=${epoch:-$_binder_epoch} ;;
      'failed '* | 'error shutting_down '*) ;;
      *) _binder_fail "$reply" || return ;;
    esac
    _binder_wait "$reply" || return
  done
)

# binder_get SOURCE: prints the current value of a source.
binder_get() (
  result=$(binder_call get "{\"source\":\"$1\"}") || return
  printf '%s\n' "$result" | jq -c .value
)

# binder_set SOURCE VALUE: sets a source to a JSON value, exactly once.
binder_set() {
  binder_command set "{\"source\":\"$1\",\"value\":$2}" > /dev/null
}

# binder_subscribe SOURCE [OPTIONS [CURSOR [FUNCTION]]]: prints the updates of a source, a pattern or
# `events`, or calls FUNCTION with each.
#
# OPTIONS are the other parameters of `subscribe`. CURSOR, from an earlier update, continues after it,
# for `events` and with `"mode":"every"`; without one it is `null`. Each update is one line:
#
#   {"cursor":{"epoch":"cb6c61b0","seq":2},"type":"next","source":"cells/lamp","seq":2,"value":true}
#
# The first one has the type `subscribed`. A `snapshot` has the present: `value`, `gone`, `values` of a
# pattern, or `state`; a source of the newest value sends one again after a lost connection. The other
# types are the methods of the notifications. The cursor is null for sources that are not journaled.
#
# A slow reader needs no memory: the pipe is full, and the daemon keeps the newest value, or feeds
# events from the journal at the reader's pace. The subscription ends when FUNCTION fails, with its
# status; when the next update is written to a reader that is gone; and with an error when the daemon
# ends it or refuses to resume it.
binder_subscribe() (
  cursor=${3:-null} function=${4:-_binder_print} pause=100 is_known=
  while :; do
    request=$(printf '%s' "${2-"{}"}" | jq -c --arg source "$1" --argjson cursor "$cursor" '
      . + {source: $source, sub: "s"}
      | if $cursor and (.source == "events" or .mode == "every") and (has("durable") | not)
        then . + {from: {after: $cursor.seq}, epoch: $cursor.epoch} else . end
      | {jsonrpc: "2.0", id: 1, method: "subscribe", params: .}') || return
    # The function uses the real input and output, 5 and 3; the output is how it has ended.
    { end=$(_binder_stream "$request" "$cursor" "$function" "$is_known"); } 3>&1 5<&0
    cursor=${end##*' '} end=${end%' '*}
    case $end in
      '') return ;; # the reader is gone
      'known '*) is_known=1 pause=100 end=${end#* } ;;
    esac
    case $end in 'stopped '*) return "${end#* }" ;; esac
    [ -n "$is_known" ] || _binder_fail "$end" || return
    case $end in 'closed '* | 'ended '*) _binder_fail "$end" || return ;; esac
    _binder_wait "$end" || return
  done
)

_binder_print() { printf '%s\n' "$1"; }

# Sends one request and prints one line:
#   result EPOCH RESULT | error NAME ERROR | lost EPOCH ERROR | failed - ERROR | unknown - ERROR
# If an epoch is given, nothing is sent to a journal with another one.
_binder_exchange() ( # epoch method params
  wanted=$1 noise='' closing=''
  request=$(printf '{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}' "$2" "$3" | tr '\n' ' ')
  _binder_fifo
  # It ends when either side does (-t 0). The shell ends its side only after the answer.
  socat -t 0 - "UNIX-CONNECT:$_binder_path" < "$fifo" 2>&1 | {
    # A write to a connection that is gone fails, instead of ending this shell.
    trap '' PIPE
    exec 4> "$fifo"
    rm -r "${fifo%/*}"
    _binder_hello >&4 2> /dev/null
    epoch=-
    while IFS= read -r line; do
      case $line in
        '{"jsonrpc":"2.0","id":0,"result":'*)
          epoch=${line#*'"epoch":"'} epoch=${epoch%%'"'*}
          if [ -n "$wanted" ] && [ "$wanted" != "$epoch" ]; then
            echo 'unknown - {"type":"OutcomeUnknown","message":"the journal was replaced"}'
            exit
          fi
          printf '%s\n' "$request" >&4 2> /dev/null
          ;;
        '{"jsonrpc":"2.0","id":1,"result":'*)
          line=${line#*'"result":'}
          printf 'result %s %s\n' "$epoch" "${line%\}}"
          exit
          ;;
        # A line that is too long is refused with the id null.
        '{"jsonrpc":"2.0","id":'*)
          printf '%s' "$line" | jq -r '.error | .data as $data
            | "error \($data.name) \({type: "DaemonError", name: $data.name} + .)"'
          exit
          ;;
        *'"method":"closing"'*) closing=$line ;;
        '{'*) ;;
        *) noise=$line ;;
      esac
    done
    _binder_lost "$epoch" "$noise" "$closing"
  }
)

# Prints how a connection has ended without an answer.
_binder_lost() { # epoch noise closing
  case $2 in
    *' E connect('*)
      printf '%s' "$_binder_path: ${2##*): }" | jq -Rr '"failed - \({type: "ConnectionFailed",
        message: "cannot connect to \(.); is binderd running?"})"'
      ;;
    *)
      printf '%s' "${3:-"{}"}" | jq -r --arg epoch "$1" '.params // {} | "lost \($epoch) \({
        type: "ConnectionLost", message: "the connection is lost: \(.reason // "no last line")"}
        + .)"'
      ;;
  esac
}

# Subscribes once and calls a function with each update; prints how it has ended, and the last cursor:
#   [known ](lost - ERROR | failed - ERROR | error NAME ERROR | ended - ERROR | closed - ERROR
#     | stopped STATUS) CURSOR
_binder_stream() ( # request cursor function is_known
  _binder_fifo
  socat -t 0 - "UNIX-CONNECT:$_binder_path" < "$fifo" 2>&1 | jq -rnR --unbuffered \
    --argjson request "$1" --argjson cursor "$2" "$_binder_updates" | {
    exec 4> "$fifo"
    rm -r "${fifo%/*}"
    # In a shell of its own, because a write to a connection that is gone ends it.
    ({ _binder_hello && printf '%s\n' "$1"; } >&4) 2> /dev/null
    cursor=$2 known='' end='' noise=''
    while IFS= read -r line; do
      case $line in
        'known '*)
          known='known '
          line=${line#* }
          [ -z "$4" ] || continue
          ;;
        'cursor '*)
          cursor=${line#* }
          continue
          ;;
        '{'*) ;;
        'noise '*)
          noise=$line
          continue
          ;;
        *)
          end=$line
          break
          ;;
      esac
      "$3" "$line" <&5 >&3 || {
        end="stopped $?"
        break
      }
      cursor=${line#*:}
      case $cursor in
        null*) cursor=null ;;
        *) cursor=${cursor%%\}*}\} ;;
      esac
    done
    printf '%s%s %s\n' "$known" "${end:-$(_binder_lost - "$noise" '')}" "$cursor"
  }
)

# A program of jq: turns the lines of the daemon into updates, and into what _binder_stream reads.
# shellcheck disable=SC2016
_binder_updates='
  def moves: IN("snapshot", "next", "caught_up", "mark", "lagged");
  def failure: "\({type: "DaemonError", name: .data.name} + .)";
  def update($cursor; $type): {cursor: $cursor, type: $type, source: $request.params.source}
    + del(.sub, .epoch, .kind);

  # Turns the reply to subscribe into updates. A durable reader resumes after its last
  # acknowledgement, which may be before the cursor.
  def begin($last):
    (if .epoch then {epoch, seq: (.after // .seq)} else null end) as $here
    | (if .durable and $last.epoch == .epoch then $last
       elif $here and $last.part then $here + {part: $last.part} else $here end) as $cursor
    | {cursor: $cursor, repeated: ($cursor.part // 0), lines: (
        ["known \({cursor: $cursor, type: "subscribed", source: $request.params.source})",
         "cursor \($cursor)"]
        + if .after or ($last == $here and $here and (.more or .values | not)) then []
          else [update($cursor; "snapshot")] end)};

  # Turns a notification into updates. One event may change several sources of a pattern: `part` is
  # how many changes of the event after `seq` were handed out, and `repeated` are those that are sent again.
  def notify($params; $type):
    ($request.params | .mode == "every" and (.source | contains("*"))) as $has_parts
    | .cursor as $last
    | reduce ($params.items // [$params])[] as $item (.;
      if $type == "next" and .repeated > 0 and $item.seq == .cursor.seq + 1 then .repeated -= 1
      elif $type == "next" and ($request.params | .durable and (.share | not))
        and $item.seq <= $last.seq
      then .
      else
        (if (.cursor and $item.seq and ($type | moves)) | not then .
         # A durable reader that reads again is before its cursor.
         elif $type != "next" and $item.seq <= .cursor.seq then .
         elif $type != "next" or ($has_parts | not) then
           .cursor |= {epoch, seq: $item.seq}
         elif .cursor.part and $item.seq == .cursor.seq + 1 then .cursor.part += 1
         else .cursor |= {epoch, seq: ($item.seq - 1), part: 1} end)
        | .repeated = 0
        | .lines += [.cursor as $cursor | $item | update($cursor; $type)]
      end);

  foreach (inputs | . as $text | fromjson? // {noise: $text}) as $frame ({cursor: $cursor, repeated: 0};
    .cursor as $last | .lines = []
    | if $frame.noise then .lines = ["noise \($frame.noise)"]
      elif $frame.error then .lines = ["error \($frame.error.data.name) \($frame.error | failure)"]
      elif $frame.id == 1 then $frame.result | begin($last)
      elif $frame.method == "closing" then
        .lines = ["lost - \({type: "ConnectionLost",
          message: "the connection is lost: \($frame.params.reason)"} + $frame.params)"]
      elif $frame.params.sub != "s" then .
      elif $frame.method == "fail" then .lines = ["ended - \($frame.params.error | failure)"]
      elif $frame.method == "closed" then
        .lines = ["closed - \({type: "SubscriptionClosed",
          message: "the subscription is closed: \($frame.params.reason)"} + $frame.params)"]
      elif $frame.method | IN("next", "caught_up", "mark", "behind", "lagged", "paused") then
        $frame.params as $params | notify($params; $frame.method)
      else . end;
    .lines[] | tostring)'

_binder_hello() {
  printf '{"jsonrpc":"2.0","id":0,"method":"hello","params":{"protocol":[1],"client":{'
  printf '"name":"%s"},"optional":["items"],"limits":{"line":%s}}}\n' \
    "$_binder_name" "$_binder_line"
}

# Makes a named pipe, through which the shell can write to socat, in a directory of its own.
_binder_fifo() {
  fifo=$(mktemp -d)/requests && mkfifo "$fifo"
}

# Prints a word of a line.
_binder_word() ( # line number
  # shellcheck disable=SC2086
  set -f -- "$2" $1
  number=$1
  shift
  eval "printf '%s\n' \"\${$number}\""
)

# Prints random hexadecimal digits: two for each byte.
_binder_random() { od -An -N"$1" -tx1 /dev/urandom | tr -d ' \n'; } # bytes

# Prints the error of a reply, and returns the status for it.
_binder_fail() { # reply
  _binder_kind=${1%% *} _binder_error=${1#* }
  printf '%s\n' "${_binder_error#* }" >&2
  case $_binder_kind in
    error | ended) return 1 ;;
    lost | failed) return 2 ;;
    unknown) return 3 ;;
    closed) return 4 ;;
  esac
}

# Waits before the next attempt: as long as the daemon says, or a pause that doubles from 0.1 s to 5 s,
# with a random part so that many clients do not return at once. Fails if another attempt cannot help.
_binder_wait() { # reply; doubles $pause
  case $1 in
    *'"reconnect_ms":'*)
      wait=${1#*'"reconnect_ms":'}
      wait=${wait%%[!0-9]*}
      ;;
    # The daemon closes the connection of a reader that pauses too long. It reads again when it
    # connects, so the cause is gone.
    'lost '*'"reason":"stalled"'* | 'lost '*'"reason":"out_queue_full"'* | 'failed '*) wait='' ;;
    'lost '*'"reason":'*) _binder_fail "$1" || return ;;
    'error '*'"retry":true'* | 'lost '*) wait='' ;;
    *) _binder_fail "$1" || return ;;
  esac
  if [ -z "$wait" ]; then
    half=$((pause / 2))
    wait=$((half + 0x$(_binder_random 2) % (half + 1)))
    pause=$((pause < 2500 ? pause * 2 : 5000))
  fi
  sleep "$((wait / 1000)).$(printf %03d "$((wait % 1000))")"
}
