# Types the commands of a document and looks for the output that it shows.

# Runs one line. A command that runs forever goes on until the next line, so that its output can be awaited.
types() {
    local status=0
    end_running
    case $1 in
        *'&')
            eval "$1" > "$directory/beside" 2>&1 3>&- < /dev/null
            background+=($!)
            return ;;
        *watch* | *' -f '* | "bindctl bind '"*)
            # What the command before has printed is not what this one prints.
            : > "$directory/shown"
            : > "$directory/said"
            setsid bash -c "$1" > "$directory/shown" 2> "$directory/said" 3>&- < /dev/null &
            running=$!
            return ;;
    esac
    eval "$1" > "$directory/shown" 2> "$directory/said" 3>&- < /dev/null || status=$?
    # doctor warns of the machine, for example of a full disk.
    [[ $status = 0 || $1 = 'bindctl doctor'* && $status = 1 ]] || {
        echo "\$ $1"
        cat "$directory/shown" "$directory/said"
        echo "status $status"
        return 1
    }
}

# Ends the command that runs forever, if there is one. It must not have complained, or ended with an error.
end_running() {
    local status=0
    [ -n "${running:-}" ] || return 0
    # If no output was awaited, it has a moment in which to fail.
    for _ in {1..20}; do
        [ ! -s "$directory/shown" ] && kill -0 "$running" 2> /dev/null || break
        sleep .05
    done
    # A moment after its start it has no group of its own yet.
    kill -TERM -- "-$running" 2> /dev/null || kill -TERM "$running" 2> /dev/null || true
    wait "$running" || status=$?
    running=
    [[ $status = 0 || $status = 143 ]] && [ ! -s "$directory/said" ] && return
    cat "$directory/shown" "$directory/said"
    echo "status $status"
    return 1
}

# Prints text without what differs between a terminal and a file, and between two runs.
plain() { sed -E 's/20[0-9-]+[T ][0-9:.]+Z?/TIME/; s/[[:space:]]+/ /g' "$@"; }

# Whether the last command, or one beside it, has printed a line.
printed() { # line
    plain "$directory/shown" "$directory/beside" | grep -qxF -e "$(plain <<< "$1")"
}

# Writes the files of a document: the fenced blocks on stdin whose first line is a comment with their name.
writes_files() {
    local line file='' isFirst='' inside=''
    while IFS= read -r line; do
        if [[ $line = '```'* ]]; then
            if [ -n "$inside" ]; then inside=; else inside=1 isFirst=1; fi
            file=
        elif [ -n "$isFirst" ]; then
            isFirst=
            [[ $line =~ ^('#'|--)' '([a-z./]+\.[a-z]+)$ ]] || continue
            file=${BASH_REMATCH[2]}
            mkdir -p "$(dirname "$file")"
            : > "$file"
        elif [ -n "$file" ]; then
            printf '%s\n' "$line" >> "$file"
            [[ $line != '#!'* ]] || chmod +x "$file"
        fi
    done
}

# The same, and types the last command again if it only reads: what a binding or a worker writes may come later.
prints() { # line
    printed "$1" && return
    [[ $command = 'bindctl get '* || $command = 'jq '* ]] || return
    types "$command"
    printed "$1"
}

# Types the commands in the fenced blocks on stdin, and looks for the output that is shown below each.
types_blocks() {
    local line command='' count=0
    touch "$directory/beside"
    while IFS= read -r line; do
        case $line in
            '$ Scripts/build'* | '$ bindctl session -- bash'*) ;;
            '$ '*)
                command=$(sed 's/  *# .*$//' <<< "${line#'$ '}")
                types "$command"
                count=$((count + 1)) ;;
            *) eventually prints "$line" ;;
        esac
    done < <(awk '/^```/ { inside = !inside; first = 1; next }
        first { first = 0; isFile = /^(#|--) [a-z.\/]+\.[a-z]+$/ }
        inside && !isFile')
    end_running
    typed=$count
}
