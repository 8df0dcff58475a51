#!/bin/sh
# Installs cuzkd from the folder that this script is in, on a Linux with glibc 2.34 or later. Debian and Ubuntu have a
# package instead.
set -eu
HERE=$(cd "$(dirname "$0")" && pwd)
PREFIX=/usr/local
ROOT=
ACTION=install

usage() {
  cat <<'TEXT'
install.sh [--prefix DIR] [--root DIR]   installs the programs below DIR (/usr/local), the settings in /etc/cuzkd and the
                                         systemd unit, makes the user cuzkd, and starts the service if the settings are
                                         right. Existing settings stay; the new file is then cuzkd.toml.new
install.sh --remove [--prefix DIR]       stops the service and removes the programs and the unit; settings, accepted jobs
                                         and parameters stay
With --root all files go below that directory, and systemd is not used.
TEXT
}

while [ $# -gt 0 ]; do
  case "$1" in
    --prefix) PREFIX=${2:?--prefix needs a folder}; shift 2 ;;
    --root) ROOT=${2:?--root needs a folder}; shift 2 ;;
    --remove) ACTION=remove; shift ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done
case "$PREFIX" in
  /*) ;;
  *) echo "install.sh: --prefix needs a path that begins with /" >&2; exit 2 ;;
esac

# Where the files of usr/ go that do not belong to the prefix: the system's own folders.
UNIT=$ROOT/etc/systemd/system/cuzkd.service
SYSUSERS=$ROOT/etc/sysusers.d/cuzkd.conf
TMPFILES=$ROOT/etc/tmpfiles.d/cuzkd.conf
SETTINGS=$ROOT/etc/cuzkd/cuzkd.toml

# Of this machine, unless the files go below another root.
systemd_runs() { [ -z "$ROOT" ] && [ -d /run/systemd/system ]; }

put() {  # mode, file, place
  mkdir -p "$(dirname "$3")"
  # A program that runs keeps its file: the new one takes the name.
  cp "$2" "$3.installing"
  chmod "$1" "$3.installing"
  mv -f "$3.installing" "$3"
}

files_below_prefix() {
  (cd "$HERE/usr" && find bin share -type f)
}

install_files() {
  files_below_prefix | while read -r file; do
    case "$file" in
      bin/*) put 755 "$HERE/usr/$file" "$ROOT$PREFIX/$file" ;;
      *) put 644 "$HERE/usr/$file" "$ROOT$PREFIX/$file" ;;
    esac
  done
  put 644 "$HERE/usr/lib/sysusers.d/cuzkd.conf" "$SYSUSERS"
  put 644 "$HERE/usr/lib/tmpfiles.d/cuzkd.conf" "$TMPFILES"
  put 644 "$HERE/usr/lib/systemd/system/cuzkd.service" "$UNIT"
  sed -i "s|^ExecStart=/usr/bin/|ExecStart=$PREFIX/bin/|" "$UNIT"
  if [ -e "$SETTINGS" ] && ! cmp -s "$HERE/etc/cuzkd/cuzkd.toml" "$SETTINGS"; then
    put 644 "$HERE/etc/cuzkd/cuzkd.toml" "$SETTINGS.new"
    echo "kept $SETTINGS; the settings of this version are in $SETTINGS.new"
  else
    put 644 "$HERE/etc/cuzkd/cuzkd.toml" "$SETTINGS"
  fi
}

start() {
  systemd-sysusers "$SYSUSERS"
  systemd-tmpfiles --create "$TMPFILES"
  if command -v restorecon >/dev/null; then restorecon -R "$PREFIX/bin/cuzkd" "$PREFIX/bin/cuzkctl" /etc/cuzkd || true; fi
  systemctl daemon-reload
  systemctl enable --quiet cuzkd.service
  if systemctl --quiet is-active cuzkd.service; then
    echo "the previous version is still running. To start this version: systemctl restart cuzkd"
  elif "$PREFIX/bin/cuzkd" --check-config; then
    systemctl start cuzkd.service
  else
    echo "the settings are wrong, so the service is not started. Correct $SETTINGS, then: systemctl start cuzkd" >&2
  fi
}

if [ "$ACTION" = remove ]; then
  if systemd_runs; then systemctl disable --now --quiet cuzkd.service || true; fi
  files_below_prefix | while read -r file; do rm -f "$ROOT$PREFIX/$file"; done
  if [ -d "$ROOT$PREFIX/share/doc/cuzkd" ]; then find "$ROOT$PREFIX/share/doc/cuzkd" -depth -type d -empty -delete; fi
  rm -f "$UNIT" "$SYSUSERS" "$TMPFILES"
  if systemd_runs; then systemctl daemon-reload; fi
  echo "removed. Settings are in $ROOT/etc/cuzkd, accepted jobs in $ROOT/var/lib/cuzkd"
  exit 0
fi

"$HERE/usr/bin/cuzkd" --version >/dev/null || { echo "install.sh: cuzkd does not run here" >&2; exit 1; }
install_files
if systemd_runs; then
  start
elif [ -z "$ROOT" ]; then
  echo "systemd does not run here; $PREFIX/bin/cuzkd starts the daemon"
fi
