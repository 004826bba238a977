#!/bin/sh
# Prints "3.12 /path/to/python3.12" for up to three CPythons from 3.11 on, as one wheel is for all: the first that is found
# (the one given, those on PATH, those of pyenv), the oldest and the newest. Free-threaded builds need a wheel of their own
# and are left out.
all() {
    for python in "$@" python3 python3.11 python3.12 python3.13 python3.14 python3.15 \
        "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3; do
        found=$("$python" -c '
import sys, sysconfig
fits = sys.implementation.name == "cpython" and sys.version_info >= (3, 11)
if fits and not sysconfig.get_config_var("Py_GIL_DISABLED"):
    print("%d.%d" % sys.version_info[:2], sys.executable)
' 2>/dev/null) || continue
        [ -z "$found" ] || echo "$found"
    done
}
every=$(all "$@" | awk '!seen[$1]++')
[ -n "$every" ] || exit 0
{ echo "$every" | head -n 1; echo "$every" | sort -V | sed -n '1p;$p'; } | awk '!seen[$1]++'
