"""What a program needs of the machine that it runs on, read from its dynamic section."""

import re
import subprocess

# Of glibc itself, and the oldest glibc that has everything we use.
GLIBC = re.compile(r"lib(c|m|dl|rt|pthread|resolv)\.so\.\d+|ld-linux-x86-64\.so\.2")
FLOOR = (2, 34)


def read(*arguments):
    return subprocess.run(["readelf", "-W", *[str(a) for a in arguments]], capture_output=True, text=True, check=True).stdout


def foreign_libraries(program):
    """The shared libraries that are not glibc's."""
    needed = re.findall(r"\(NEEDED\)\s+Shared library: \[(.+?)\]", read("-d", program))
    if not needed:
        raise AssertionError(f"{program} names no library: it is not what it should be")
    return [name for name in needed if not GLIBC.fullmatch(name)]


def later_symbols(program):
    """The symbols of a glibc that is later than FLOOR, and every version that is not one of glibc's releases."""
    symbols = re.findall(r" UND (\S+)@(\S+)", read("--dyn-syms", program))
    if not symbols:
        raise AssertionError(f"{program} uses nothing of glibc: it is not what it should be")
    # A demand may come without a symbol, such as GLIBC_ABI_DT_RELR.
    demands = [("", version) for version in re.findall(r"Name: (\S+)  Flags", read("-V", program))]

    def late(version):
        release = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?", version)
        return not release or (int(release[1]), int(release[2])) > FLOOR

    return sorted({f"{name}@{version}" for name, version in symbols + demands if late(version)})
