#!/usr/bin/env bash
# The demonstration behind `./dev demo`: a sealed 2 KiB sector goes in, a verified proof comes out. Takes the build
# folder; keeps the parameters there, so that a second run begins with the proof.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=${1:?usage: demo.sh BUILD_FOLDER}
BIN=$BUILD/release/bin
PARAMS=$BUILD/release/parameters
REQUEST=$ROOT/tests/vectors/filecoin/porep/2KiB-v1_1-1000-84
RUN=$(mktemp -d)   # short enough for the name of a socket
SOCKET=$RUN/cuzkd.sock
daemon=""

say() { printf '\n== %s\n' "$*"; }
cleanup() {
  if [ -n "$daemon" ]; then kill -TERM "$daemon" 2>/dev/null && wait "$daemon" || true; fi
  rm -rf "$RUN"
}
trap cleanup EXIT
unset "${!CUZK_@}" 2>/dev/null || true   # the demonstration has its own settings

name=$("$BIN/cuzkctl" circuit list | awk '$1 == "porep-2k" { print $4 }')
if [ -f "$PARAMS/$name" ] && [ -f "$PARAMS/${name%.params}.development.json" ]; then
  say "development parameters for 2 KiB PoRep are there already: $PARAMS"
else
  say "making development parameters for 2 KiB PoRep in $PARAMS (1.1 GB, once)"
  "$BIN/cuzkctl" params make --kind porep --size 2KiB --out "$PARAMS"
fi

say "starting cuzkd on unix:$SOCKET"
"$BIN/cuzkd" --listen "unix:$SOCKET" --params.directory "$PARAMS" --params.allow_development true \
  --jobs.state_directory "" --http.listen "" 2>"$RUN/log" &
daemon=$!
for _ in $(seq 100); do
  [ -S "$SOCKET" ] && "$BIN/cuzkctl" --address "unix:$SOCKET" status >/dev/null 2>&1 && break
  kill -0 "$daemon" 2>/dev/null || { cat "$RUN/log" >&2; exit 1; }
  sleep 0.1
done
grep -o 'proving on .*' "$RUN/log"

say "proving sector 84 of miner f01000, sent exactly as Curio sends it"
"$BIN/cuzkctl" --address "unix:$SOCKET" prove --request "$REQUEST" --out "$RUN/proof"

say "the proof"
od -An -v -tx1 -w32 "$RUN/proof"

say "verifying it without the daemon, against the sector's public data"
"$BIN/cuzkctl" verify --request "$REQUEST" --proof "$RUN/proof" --vk "$PARAMS/${name%.params}.vk"
