#!/bin/sh
# Runs the quick starts of both schemes, the leases in C and the segments from sources of one's own, on a state
# directory of their own and checks what they print. `make test OF=examples` runs it.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
here=$(mktemp -d)
export LEAFID_STATE_DIR="$here/state" LEAFID_WORKER=0-31
trap 'rm -rf "$here"' EXIT
# What they make, as the directory of the counters, is made here.
cd "$here"

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

built=$root/build/examples
python=$root/build/venv/bin/python
node=${NODE:-node}

# `quickstart.sh java`: that one alone, by the JDK at hand.
if [ "${1:-}" = java ]; then
    check java java -cp "$root/build/java/classes" "$root/examples/Quickstart.java"
    echo "quick starts: 1 of 1 passed"
    exit
fi
check rust "$built/quickstart-rust"
check c "$built/quickstart-c"
check python "$python" "$root/examples/quickstart.py"
check node "$node" "$root/build/node/quickstart.mjs"
echo "quick starts: 4 of 4 passed"

# Two lines: "order number N" and "1000 more, N + 1 to N + 1000"; each program continues above the one before.
above=0
check_segments() {
    language=$1
    shift
    output=$("$@") || fail "ended with $?"
    number=$(echo "$output" | sed -n '1s/^order number \([0-9]*\)$/\1/p')
    [ "${number:-0}" -gt "$above" ] && [ $((number % 1000)) -eq 1 ] || fail "not the first number of a segment above $above"
    last=$(echo "$output" | sed -n '2s/^1000 more, \([0-9]*\) to \([0-9]*\)$/\1 \2/p')
    [ "${last% *}" -gt "$number" ] && [ "${last#* }" -ge $((number + 1000)) ] || fail "not the 1000 numbers after it"
    above=${last#* }
    echo "$language: $output" | head -n 1
}

check_segments rust "$built/segments-rust"
check_segments c "$built/segments-c"
check_segments python "$python" "$root/examples/segments.py"
check_segments node "$node" "$root/build/node/segments.mjs"
echo "quick starts of segments: 4 of 4 passed"

# Segments from sources of one's own. Each program prints "order number N, then [N, N, N]".
check_own() {
    output=$(cat process-*)
    rm process-*
    numbers=$(echo "$output" | sed -nE 's/^order number ([0-9]+), then \[([0-9]+), ([0-9]+), ([0-9]+)\]$/\1 \2 \3 \4/p')
    [ "$(echo "$output" | wc -l)" -eq 4 ] && [ "$(echo "$numbers" | wc -l)" -eq 4 ] || fail "not the four lines expected"
    # shellcheck disable=SC2086 # a number a line
    [ "$(printf '%s\n' $numbers | sort -u | wc -l)" -eq 16 ] || fail "not 16 different numbers"
    echo "$language: $output" | head -n 1
}

# Four processes on one table, three of them at once; the first one makes it.
language="database_segments.py and .mjs"
"$python" "$root/examples/database_segments.py" >process-1 2>&1
for process in 2 3; do "$node" "$root/build/node/database_segments.mjs" >process-$process 2>&1 & done
"$python" "$root/examples/database_segments.py" >process-4 2>&1 &
wait
check_own

# And on one file.
language="database_segments.rs and .c"
echo 1 >order.counter
for process in 1 2; do "$built/database_segments-rust" >process-$process 2>&1 & done
for process in 3 4; do "$built/database_segments-c" >process-$process 2>&1 & done
wait
check_own

language=leases.c
output=$("$built/leases-c") || fail "ended with $?"
case $output in
[0-9]*" made by worker "[0-9]) echo "$language: $output" ;;
*) fail "not the line expected" ;;
esac
