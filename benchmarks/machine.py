"""Describes the machine and the programs of a run, without the host's name."""

import platform
import re
import subprocess
from dataclasses import asdict
from pathlib import Path

import packages
from peers import Missing, cameleer_binary


def describe(site):
    return {
        "machine": {
            "CPU": first(r"model name\s*: (.*)", "/proc/cpuinfo"),
            "cores": len(re.findall(r"^processor", Path("/proc/cpuinfo").read_text(), re.M)),
            "memory": f'{int(first(r"MemTotal: *([0-9]+)", "/proc/meminfo")) // 1024} MiB',
            "kernel": platform.release(),
            "system": first(r'PRETTY_NAME="(.*)"', "/etc/os-release"),
        },
        "versions": {package: packages.version(package) or "not installed" for package in packages.PACKAGES}
        | {"perl": packages.version("perl"), "cameleer": cameleer_version()},
        "settings": asdict(site.settings) | {"bench_loops": site.loops},
    }


def first(pattern, path):
    found = re.search(pattern, Path(path).read_text())
    return found[1] if found else "unknown"


def cameleer_version():
    try:
        argv = [cameleer_binary(), "--version"]
        lines = subprocess.run(argv, capture_output=True, text=True, timeout=5).stdout.splitlines()
        return lines[0] if lines else "unknown"
    except Missing as reason:
        return str(reason)
