#!/bin/sh
# Installs the Debian packages of programs that are missing, as root: debian.sh PROGRAM:PACKAGE… Where it cannot, it says
# what is missing and how to get it, and fails.
PATH=$PATH:/usr/sbin:/sbin
missing=
for pair; do
  command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair##*:}"
done
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  mkdir -p build
  # One at a time: apt refuses a second one.
  if command -v flock >/dev/null 2>&1; then exec 9>build/debian.lock && flock 9; fi
  # shellcheck disable=SC2086 # a package a word
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; } \
    >build/debian.log 2>&1 && exit 0
  echo "could not install$missing: see build/debian.log" >&2
else
  echo "not installed:$missing (Debian: apt install$missing, as root)" >&2
fi
exit 1
