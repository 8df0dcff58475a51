#!/usr/bin/env python3
"""A double of systemctl and journalctl for a copy of a machine on which no systemd runs: what operations_test.py
and the package's scripts ask. Services run as their unit file says: user, folders, ExecStart, ExecReload."""

import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import time

RUN, LOG = pathlib.Path("/run/double-of-systemd"), pathlib.Path("/var/log")


class Unit:
    def __init__(self, name):
        self.name = name.removesuffix(".service")
        self.pid_file, self.log = RUN / self.name, LOG / f"{self.name}.log"
        places = [pathlib.Path(f) / f"{self.name}.service" for f in ("/usr/lib/systemd/system", "/lib/systemd/system")]
        path = next((p for p in places if p.exists()), None)
        if path is None:
            sys.exit(f"Unit {self.name}.service could not be found.")
        self.lines = re.findall(r"(?m)^(\w+)=(.*)$", path.read_text().replace("\\\n", " "))

    def values(self, key):
        return [value for name, value in self.lines if name == key]

    def value(self, key, default=""):
        return (self.values(key) or [default])[-1]

    def pid(self):
        try:
            pid = int(self.pid_file.read_text())
            return pid if pathlib.Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z" else 0
        except (OSError, ValueError):
            return 0

    def command(self, line):
        words = shlex.split(line.lstrip("-@:+!"))
        user = self.value("User")
        return ["setpriv", f"--reuid={user}", f"--regid={self.value('Group', user)}", "--init-groups", *words] if user \
            else words

    def environment(self):
        environment = dict(os.environ)
        for line in self.values("Environment"):
            environment.update(word.split("=", 1) for word in shlex.split(line))
        return environment

    def expand(self, line):
        variables = {**self.environment(), "MAINPID": str(self.pid())}
        return re.sub(r"\$\{?(\w+)\}?", lambda m: variables.get(m.group(1), ""), line)

    def make_folders(self):
        for key, place in (("RuntimeDirectory", "/run"), ("StateDirectory", "/var/lib")):
            for name in self.value(key).split():
                folder = pathlib.Path(place) / name
                folder.mkdir(parents=True, exist_ok=True)
                folder.chmod(int(self.value(f"{key}Mode", "0755"), 8))
                user = self.value("User")
                if user and folder.owner() != user:  # then systemd changes what is in the folder too
                    subprocess.run(["chown", "-R", f"{user}:{self.value('Group', user)}", str(folder)], check=True)

    def start(self):
        if self.pid():
            return
        RUN.mkdir(exist_ok=True)
        self.make_folders()
        with open(self.log, "a") as log:
            process = subprocess.Popen(self.command(self.expand(self.value("ExecStart"))), stdout=log, stderr=log,
                                       stdin=subprocess.DEVNULL, env=self.environment(), start_new_session=True)
        self.pid_file.write_text(str(process.pid))
        for _ in range(6000):  # ten minutes, on a machine however busy
            if process.poll() is not None:
                sys.exit(f"{self.name} ended with {process.returncode}: {self.log.read_text()}")
            # What Type=notify waits for is here the socket.
            if self.name != "cuzkd" or "listening on" in self.log.read_text():
                return
            time.sleep(0.1)
        sys.exit(f"{self.name} does not become ready")

    def stop(self):
        pid = self.pid()
        if pid:
            os.kill(pid, signal.SIGTERM)
        for _ in range(6000):
            if not self.pid():
                self.log.write_text("")
                return
            time.sleep(0.1)
        sys.exit(f"{self.name} does not stop")

    def reload(self):
        if not self.pid():
            return self.start()
        if not self.values("ExecReload"):
            return os.kill(self.pid(), signal.SIGHUP)
        for line in self.values("ExecReload"):
            subprocess.run(self.command(self.expand(line)), check=True)


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    if pathlib.Path(sys.argv[0]).name == "journalctl":
        name = sys.argv[sys.argv.index("-u") + 1]
        print(Unit(name).log.read_text())
        return
    action, *names = words
    if action == "daemon-reload":
        return
    for unit in map(Unit, names):
        if action in ("start", "stop", "reload"):
            getattr(unit, action)()
        elif action in ("restart", "try-restart"):
            unit.stop()
            unit.start()
        elif action == "is-enabled":
            print("enabled")
        elif action in ("is-active", "status"):
            print("active" if unit.pid() else "inactive")
            sys.exit(0 if unit.pid() else 3)
        else:
            sys.exit(f"this double does not know {action}")


main()
