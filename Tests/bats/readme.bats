# The command lines of the README work as described.

load support

setup() {
    cd "$BATS_TEST_DIRNAME/../.."
    make_place
    start_daemon
}

teardown() { remove_place; }

# Runs one line; stops commands that run forever after 2 s.
types() {
    local status=0
    case $1 in
        *'&')
            eval "$1" > "$directory/beside" 2>&1 3>&- < /dev/null
            background+=($!)
            return ;;
        *watch* | *' -f '* | *' --exec '* | "bindctl bind '"*) set -- "timeout 2 $1" ;;
    esac
    eval "$1" > "$directory/shown" 2> "$directory/said" 3>&- < /dev/null || status=$?
    [[ $status = 0 || $1 = timeout* && $status = 124 && ! -s $directory/said ]] || {
        echo "\$ $1"
        cat "$directory/shown" "$directory/said"
        echo "status $status"
        return 1
    }
}

@test "the lines of a minute of use, and of a chat" {
    local line count=0
    while IFS= read -r line; do
        case $line in
            '$ Scripts/build'* | '$ bindctl session'*) ;;
            '$ '*)
                line=${line#'$ '}
                types "$(sed 's/ *# .*$//' <<< "$line")"
                count=$((count + 1)) ;;
            *) is "$(cat "$directory/shown")" "$line" ;;
        esac
    done < <(sed -n '/^## A minute of use/,/^## The house/p' README.md |
        awk '/^```/ { inside = !inside; next } inside')
    [ "$count" -ge 14 ]
    is "$(bindctl get cells/lamp)" false
}

@test "the lines of the table of services" {
    local line count=0
    while IFS= read -r line; do
        types "$line"
        count=$((count + 1))
    done < <(sed -n '/^| service | what |/,/^$/p' README.md | grep -o '`bindctl [^`]*`' | tr -d '`')
    [ "$count" -ge 10 ]
}
