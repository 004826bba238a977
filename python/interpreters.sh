#!/bin/sh
# Prints "3.12 /path/to/python3.12" for each CPython from 3.11 on that is installed: the one given first, then those on
# PATH and those of pyenv. One of each minor version; free-threaded builds, which need a wheel of their own, not.
seen=" "
for python in "$@" python3 python3.11 python3.12 python3.13 python3.14 python3.15 \
    "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3; do
    found=$("$python" -c '
import sys, sysconfig
fits = sys.implementation.name == "cpython" and sys.version_info >= (3, 11)
if fits and not sysconfig.get_config_var("Py_GIL_DISABLED"):
    print("%d.%d" % sys.version_info[:2], sys.executable)
' 2>/dev/null) || continue
    version=${found%% *}
    case "$found" in '') continue ;; esac
    case "$seen" in *" $version "*) continue ;; esac
    seen="$seen$version "
    echo "$found"
done
