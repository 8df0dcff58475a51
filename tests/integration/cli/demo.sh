#!/usr/bin/env bash
# The demonstration behind `./dev demo`: a sealed 2 KiB sector goes in, a verified proof comes out. Takes the build
# folder; keeps the parameters there, so that a second run begins with the proof.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
BUILD=${1:?usage: demo.sh BUILD_FOLDER}
BIN=$BUILD/release/bin
PARAMS=$BUILD/release/parameters
REQUEST=$ROOT/tests/vectors/filecoin/porep/2KiB-v1_1-1000-84
RUN=$(mktemp -d)   # short enough for the name of a socket
SOCKET=$RUN/cuzkd.sock
daemon=""

OWN=(--config /dev/null)   # the demonstration has settings of its own, whatever this machine has in /etc/cuzkd

say() { printf '\n== %s\n' "$*"; }
cleanup() {
  local code=$?
  if [ -n "$daemon" ]; then kill -TERM "$daemon" 2>/dev/null && wait "$daemon" || true; fi
  if [ "$code" != 0 ] && [ -s "$RUN/log" ]; then
    say "it did not work; what cuzkd said last" >&2
    tail -n 20 "$RUN/log" >&2
  fi
  rm -rf "$RUN"
}
trap cleanup EXIT
unset "${!CUZK_@}" FIL_PROOFS_PARAMETER_CACHE 2>/dev/null || true

# Until it answers, for a minute at most; at once when it has ended.
wait_for_daemon() {
  for _ in $(seq 600); do
    "$BIN/cuzkctl" "${OWN[@]}" --address "unix:$SOCKET" status >/dev/null 2>&1 && return 0
    kill -0 "$daemon" 2>/dev/null || { echo "demo: cuzkd ended before it answered" >&2; return 1; }
    sleep 0.1
  done
  echo "demo: cuzkd does not answer on unix:$SOCKET" >&2
  return 1
}

name=$("$BIN/cuzkctl" "${OWN[@]}" circuit list | awk '$1 == "porep-2k" { print $NF }')
if [ -f "$PARAMS/$name" ] && [ -f "$PARAMS/${name%.params}.development.json" ]; then
  say "development parameters for 2 KiB PoRep are there already: $PARAMS"
else
  say "making development parameters for 2 KiB PoRep in $PARAMS (1.1 GB, once)"
  "$BIN/cuzkctl" "${OWN[@]}" params make --kind porep --size 2KiB --out "$PARAMS" --force
fi

say "starting cuzkd on unix:$SOCKET, without a settings file"
"$BIN/cuzkd" "${OWN[@]}" --listen "unix:$SOCKET" --params.directory "$PARAMS" --params.allow_development true \
  --jobs.state_directory "" --http.listen "" 2>"$RUN/log" &
daemon=$!
wait_for_daemon
grep -o 'proving on .*' "$RUN/log"

say "proving sector 84 of miner f01000, sent exactly as Curio sends it"
"$BIN/cuzkctl" "${OWN[@]}" --address "unix:$SOCKET" prove --request "$REQUEST" --out "$RUN/proof"

say "the proof"
od -An -v -tx1 -w32 "$RUN/proof"

say "verifying it without the daemon, against the sector's public data"
"$BIN/cuzkctl" "${OWN[@]}" verify --request "$REQUEST" --proof "$RUN/proof" --vk "$PARAMS/${name%.params}.vk"
