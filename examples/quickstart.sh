#!/bin/sh
# Runs the four quick starts on a state directory of their own and checks what they print. `make test-examples` runs it.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
LEAFID_STATE_DIR=$(mktemp -d)
export LEAFID_STATE_DIR
trap 'rm -rf "$LEAFID_STATE_DIR"' EXIT

fail() {
    echo "$language: $1; it printed:" >&2
    echo "$output" >&2
    exit 1
}

# Two lines: "ID made at TIME by worker N" and "1000 more, ID to ID".
check() {
    language=$1
    shift
    output=$("$@") || fail "ended with $?"
    # shellcheck disable=SC2086 # the words are what is checked
    set -- $output
    case "$*" in
    *[0-9]" made at "*[0-9]*" by worker "[0-9]*" 1000 more, "*[0-9]" to "*[0-9]) ;;
    *) fail "not the two lines expected" ;;
    esac
    id=$1
    worker=$(echo "$output" | sed -n 's/.* by worker \([0-9]*\)$/\1/p')
    first=$(echo "$output" | sed -n 's/^1000 more, \([0-9]*\) to .*/\1/p')
    last=$(echo "$output" | sed -n 's/.* to \([0-9]*\)$/\1/p')
    # Leaf's layout: 41 bits of milliseconds since 1288834974657, 10 of worker id, 12 of sequence.
    age_s=$(($(date +%s) - ((id >> 22) + 1288834974657) / 1000))
    [ "$age_s" -ge -1 ] && [ "$age_s" -le 10 ] || fail "the id is $age_s s old"
    [ $(((id >> 12) & 1023)) -eq "$worker" ] && [ "$worker" -le 31 ] || fail "worker $worker is not the id's"
    [ "$id" -lt "$first" ] && [ $((first + 999)) -le "$last" ] || fail "the ids do not ascend"
    [ -z "${before:-}" ] || [ "$id" -gt "$before" ] || fail "not above $before, the last id of the program before"
    before=$last
    echo "$language: $output" | head -n 1
}

check rust "$root/build/examples-target/release/quickstart"
check c "$root/build/examples/quickstart-c"
check python "$root/build/venv/bin/python" "$root/examples/quickstart.py"
check node "${NODE:-node}" "$root/build/node/quickstart.mjs"
echo "quick starts: 4 of 4 passed"
