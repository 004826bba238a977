#!/bin/sh
# Builds, examines and runs the program that has nothing but the core. Run by `make test-no-std`.
set -u
here=$(cd "$(dirname "$0")" && pwd)
target=$here/../../build/no-std-target
program=$target/release/leafid-no-std
passed=0
failed=0

check() { # what it proves, then a command that succeeds if so
  what=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
    echo "ok    $what"
  else
    failed=$((failed + 1))
    echo "FAIL  $what"
  fi
}

end() {
  echo "no-std: $passed passed, $failed failed"
  [ "$failed" -eq 0 ]
  exit
}

no_undefined_symbols() { [ -z "$(nm -u "$program")" ]; }
has_symbols() { nm "$program" | grep -q ' T _start$'; }
not_dynamic() { ! readelf -d "$program" | grep -q NEEDED; }
runs() { timeout 10 "$program"; }

case "$(uname -s)-$(uname -m)" in
  Linux-x86_64 | Linux-aarch64) ;;
  *) echo "skipped: the program's start is written for Linux on x86_64 and aarch64" && end ;;
esac
for tool in cargo nm readelf timeout; do
  command -v "$tool" >/dev/null || {
    echo "no $tool: install Rust from rustup.rs, and your system's binutils and coreutils"
    failed=1
    end
  }
done

# Flags for the rest of the project, such as a sanitizer's, would need a library.
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS
CARGO_TARGET_DIR=$target
export CARGO_TARGET_DIR
for features in "" format messages options public-ids wire; do
  with=${features:+, with the feature $features}
  check "the core builds into a program without std, libc and start files$with" \
    cargo build --release --quiet --features "$features" --manifest-path "$here/Cargo.toml"
  [ "$failed" -eq 0 ] || end
  check "its own start is in it" has_symbols
  check "no symbol is left for a library to bring" no_undefined_symbols
  check "it needs no shared library" not_dynamic
  check "compose, decode, spans, next, reserve, seal, errors and the feature's own work in it" runs
done
end
