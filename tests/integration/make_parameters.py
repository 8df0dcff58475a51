#!/usr/bin/env python3
"""Makes development parameters from recorded secrets, once per build tree, and compares them with what was recorded.

Usage: make_parameters.py CUZKCTL OUT_FOLDER RECORD.json
"""

import hashlib
import json
import pathlib
import subprocess
import sys


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 24):
            digest.update(block)
    return digest.hexdigest()


def main():
    cuzkctl, out, record_path = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    record = json.loads(record_path.read_text())
    kind, size = record["circuit"].split("-")
    kind = {"update": "snap"}.get(kind, kind)
    params = out / record["file_name"]
    if not params.exists():
        subprocess.run([cuzkctl, "params", "make", "--kind", kind, "--size", size, "--out", str(out),
                        "--toxic-waste", str(record_path)], check=True)
    made = sha256(params)
    if made != record["params_sha256"]:
        params.unlink()
        sys.exit(f"{params}: SHA-256 {made}, recorded {record['params_sha256']}")
    if sha256(params.with_suffix(".vk")) != record["vk_sha256"]:
        params.unlink()
        sys.exit(f"{params.with_suffix('.vk')}: not the recorded key")
    print(f"{record['circuit']}: {params.stat().st_size} bytes, SHA-256 as recorded")


if __name__ == "__main__":
    main()
