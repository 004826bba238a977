#!/bin/sh
# Runs a command where the network is this machine alone, and never changes. Chromium ends what it fetches, also from
# localhost, when an address of any device comes or goes (ERR_NETWORK_CHANGED), as on a machine with containers. Where a
# network of one's own is not permitted, the command has the machine's.
PATH=$PATH:/usr/sbin:/sbin
for user in '' --map-root-user; do
  # shellcheck disable=SC2086 # none, or one
  if unshare $user --net ip link set lo up 2>/dev/null; then
    # shellcheck disable=SC2016,SC2086
    exec unshare $user --net sh -c 'ip link set lo up && exec "$@"' sh "$@"
  fi
done
exec "$@"
