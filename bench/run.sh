#!/bin/bash
# Measures leafid, its floors and its peers in one run, and writes one JSON line per subject to build/bench/LANGUAGE.jsonl;
# then the tables.
#   bench/run.sh                 what `make bench` runs: about half an hour, installs the peers into build/peers
#   bench/run.sh rust node       some languages of c, rust, python, node; the others' lines are kept
#   PEERS=0 bench/run.sh         without the peers
# BENCH_SECONDS is how long the tail of `next` is looked at under a slow source; 10 if unset.
# Needs: cargo, a C compiler, python3, node.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
build=$root/build/bench
peers=$root/build/peers
langs=${*:-rust c python node}
PEERS=${PEERS:-1}
# Call by call in turn, so that what the machine does meanwhile falls on all alike.
rounds=3
in_turn=call
# Then one after another.
parts_rust="two loop fill public_ids tags footprint ours scale threads start tail"
parts_c="loop fill tags footprint"
parts_python="two loop fill tags footprint ours tag_subjects start"
parts_node="loop fill tags footprint ours tag_subjects start"

mkdir -p "$build/floors" "$peers/node"
export RUST_BACKTRACE=0 BENCH_FLOORS=$build/floors BENCH_NODE=$root/build/node
BENCH_STATE=$(mktemp -d "$build/state.XXXXXX")
export BENCH_STATE
trap 'rm -rf "$BENCH_STATE"' EXIT

build_rust() { # folder, then cargo's arguments
  local folder=$1
  shift
  CARGO_TARGET_DIR=$build/rust-target cargo build --release --quiet --manifest-path "$here/$folder/Cargo.toml" "$@" >&2
}

lib() { # the file that cargo made of a cdylib
  for suffix in so dylib; do
    [ ! -f "$build/rust-target/release/$1.$suffix" ] || cp "$build/rust-target/release/$1.$suffix" "$build/floors/$2"
  done
}

make_rust() {
  if [ "$PEERS" = 1 ]; then
    build_rust rust --features peers
  else
    build_rust rust
  fi
}
rust() { "$build/rust-target/release/leafid-bench" "$@"; }

make_c() {
  "${CC:-cc}" -O2 -I"$root/build/c/include" "$here/c/bench.c" \
    -L"$root/build/c/lib" -lleafid -Wl,-rpath,"$root/build/c/lib" -lm -pthread -o "$build/c-bench"
}
c() { "$build/c-bench" "$@"; }

make_python() {
  py=$root/build/venv/bin/python
  PYO3_PYTHON=$py build_rust python/floor
  lib libpyfloor pyfloor.so
  # Beside the installed wheel, in a folder of their own.
  if [ "$PEERS" = 1 ] && ! cmp -s "$here/python/peers.txt" "$peers/python/installed.txt"; then
    rm -rf "$peers/python"
    "$py" -m pip install --quiet --disable-pip-version-check --target "$peers/python" -r "$here/python/peers.txt" >&2
    cp "$here/python/peers.txt" "$peers/python/installed.txt"
  fi
}
python() { PYTHONPATH=$build/floors:$peers/python PYTHONDONTWRITEBYTECODE=1 "$py" "$here/python/bench.py" "$@"; }

make_node() {
  build_rust node/floor
  lib libnodefloor nodefloor.node
  if [ "$PEERS" = 1 ] && ! cmp -s "$here/node/peers.json" "$peers/node/package.json"; then
    cp "$here/node/peers.json" "$peers/node/wanted.json"
    (cd "$peers/node" && cp wanted.json package.json && npm install --silent --ignore-scripts --no-audit --no-fund >&2) ||
      { rm -f "$peers/node/package.json"; exit 1; }
  fi
}
node_() { (cd "$peers/node" && node "$here/node/bench.mjs" "$@"); }

measure() { # language, part
  echo "== $1: $2" >&2
  local run=$1
  [ "$run" != node ] || run=node_
  "$run" "$2" >>"$build/new-$1"
}

for lang in $langs; do
  echo "== building $lang" >&2
  "make_$lang"
  : >"$build/new-$lang"
done

for ((round = 1; round <= rounds; round++)); do
  for part in $in_turn; do
    for lang in $langs; do
      measure "$lang" "$part"
    done
  done
done
for lang in $langs; do
  parts=parts_$lang
  for part in ${!parts}; do
    measure "$lang" "$part"
  done
  [ "$PEERS" != 1 ] || [ "$lang" = c ] || measure "$lang" peers
done

# A language that failed has ended this script above, and left the lines of before.
for lang in $langs; do
  mv "$build/new-$lang" "$build/$lang.jsonl"
done
python3 "$here/report.py" "$build"
