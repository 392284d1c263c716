"""The peers and the load generator, from Debian."""

import subprocess
import sys
from pathlib import Path

LISTS = Path(__file__).parent.parent / "pkg/debian-packages"
PACKAGES = [line for line in (LISTS / "bench.txt").read_text().splitlines() if line and not line.startswith("#")]


def install_missing():
    subprocess.run(["sh", LISTS / "install", "bench"], stdout=sys.stderr, check=True)


def version(package):
    query = ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", package]
    status = subprocess.run(query, capture_output=True, text=True).stdout
    return status.removeprefix("installed ") if status.startswith("installed ") else None
