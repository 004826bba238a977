#!/bin/sh
# Installs the packages of build/dist in an empty Alpine with Node, and runs them: release.yml does. The repository is in
# the folder above, and may be read-only.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
machine=$(node -p process.arch)
folder=$(mktemp -d)
cd "$folder"
export LEAFID_WORKER=0-31

apk add --quiet python3
python3 -m venv venv
venv/bin/pip install --quiet --no-index --find-links "$root/build/dist" leafid
venv/bin/python "$root/examples/quickstart.py"
venv/bin/python "$root/examples/segments.py"

echo '{ "private": true }' >package.json
npm install --offline --no-audit --no-fund "$root"/build/dist/leafid-[0-9]*.tgz "$root/build/dist/leafid-linux-$machine-musl"-*.tgz
cp "$root/examples/quickstart.mjs" "$root/examples/segments.mjs" .
rm -rf numbers
node quickstart.mjs
node segments.mjs
