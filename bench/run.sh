#!/bin/bash
# Measures leafid and its floors (`ours`), or the peers (`peers`), and writes one JSON line per subject to
# build/bench/ours.jsonl or build/bench/peers.jsonl, then the table.
#   bench/run.sh ours                 what `make bench` runs: a few minutes
#   bench/run.sh peers                what `make bench-peers` runs: about ten minutes, installs the peers into build/peers
#   bench/run.sh ours rust node       some languages of c, rust, python, node; the others' lines are kept
# Needs: cargo, a C compiler, python3, node. For the C peers uuid-dev, for one floor of Node's its headers (NODE_INCLUDE).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
build=$root/build/bench
peers=$root/build/peers
what=${1:?ours or peers}
shift
langs=${*:-rust c python node}
NODE_INCLUDE=${NODE_INCLUDE:-$(dirname "$(dirname "$(readlink -f "$(command -v node || echo /usr/bin/node)")")")/include/node}
mkdir -p "$build/floors" "$peers"
touch "$build/$what.jsonl"
export RUST_BACKTRACE=0 BENCH_FLOORS=$build/floors BENCH_NODE=$root/build/node
BENCH_STATE=$(mktemp -d "$build/state.XXXXXX")
export BENCH_STATE
trap 'rm -rf "$BENCH_STATE"' EXIT

build_rust() { # folder, target folder, then cargo's arguments
  local folder=$1 target=$2
  shift 2
  CARGO_TARGET_DIR=$build/$target cargo build --release --quiet --manifest-path "$here/$folder/Cargo.toml" "$@" >&2
}

lib() { # the file that cargo made of a cdylib
  for suffix in so dylib; do
    [ ! -f "$build/$1.$suffix" ] || cp "$build/$1.$suffix" "$build/floors/$2"
  done
}

make_rust() {
  if [ "$what" = peers ]; then
    build_rust rust rust-target --features peers
  else
    build_rust rust rust-target
  fi
}
rust() { "$build/rust-target/release/leafid-bench" "$@"; }

make_c() {
  local flags=()
  if [ "$what" = peers ]; then
    flags+=("$here/c/peers.c" -DWITH_PEERS "-DLIBUUID_VERSION=\"$(pkg-config --modversion uuid 2>/dev/null || true)\"" -luuid)
  fi
  "${CC:-cc}" -O2 -I"$root/build/c/include" "$here"/c/{main,harness,floors,ours}.c "${flags[@]}" \
    -L"$root/build/c/lib" -lleafid -Wl,-rpath,"$root/build/c/lib" -lm -pthread -o "$build/c-bench"
}
c() { "$build/c-bench" "$@"; }

make_python() {
  py=$root/build/venv/bin/python
  PYO3_PYTHON=$py build_rust python/floor pyfloor-target
  lib pyfloor-target/release/libpyfloor pyfloor.so
  if [ "$what" = peers ]; then
    # Of their own, beside the installed wheel.
    "$py" -m pip install --quiet --disable-pip-version-check --target "$peers/python" --upgrade -r "$here/python/peers.txt" >&2
  fi
}
python() { PYTHONPATH=$build/floors:$peers/python PYTHONDONTWRITEBYTECODE=1 "$py" "$here/python/bench.py" "$@"; }

make_node() {
  build_rust node/floor nodefloor-target
  lib nodefloor-target/release/libnodefloor nodefloor.node
  if [ -f "$NODE_INCLUDE/node_api.h" ]; then
    "${CC:-cc}" -O2 -shared -fPIC -I"$NODE_INCLUDE" "$here/node/floor/napi_floor.c" -o "$build/floors/napi_floor.node"
  else
    echo "   (no node_api.h in NODE_INCLUDE: the floors in C are left out)" >&2
  fi
  mkdir -p "$peers/node"
  if [ "$what" = peers ]; then
    cp "$here/node/peers.json" "$peers/node/package.json"
    (cd "$peers/node" && npm install --silent --ignore-scripts --no-audit --no-fund >&2)
  fi
}
node_() { (cd "$peers/node" && node "$here/node/bench.mjs" "$@"); }

run() { # language, then parts
  local run=$1
  [ "$run" != node ] || run=node_
  "$run" "${@:2}"
}

for lang in $langs; do
  echo "== building $lang" >&2
  "make_$lang"
  : >"$build/new-$lang"
done

if [ "$what" = ours ]; then
  # Call by call in turn, so that what the machine does meanwhile falls on all alike.
  for round in 1 2 3; do
    for lang in $langs; do
      echo "== $lang: one call, round $round" >&2
      run "$lang" call >>"$build/new-$lang"
    done
  done
  parts=(loop fill footprint floors ours)
else
  parts=(peers)
fi
for lang in $langs; do
  for part in "${parts[@]}"; do
    echo "== $lang: $part" >&2
    run "$lang" "$part" >>"$build/new-$lang"
  done
done

# A language that failed has ended this script above, and left the lines of before.
for lang in $langs; do
  grep -v "\"lang\": *\"$lang\"" "$build/$what.jsonl" >"$build/rest" || true
  cat "$build/rest" "$build/new-$lang" >"$build/$what.jsonl"
  rm -f "$build/rest" "$build/new-$lang"
done
python3 "$here/report.py" "$build/$what.jsonl"
