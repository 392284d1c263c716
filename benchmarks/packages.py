"""The peers and the load generator, from Debian."""

import os
import subprocess
import sys
from pathlib import Path

PACKAGES = [
    "apache2", "libapache2-mod-perl2", "starman", "wrk",
    "libcgi-pm-perl", "libdbi-perl", "libwww-perl", "libhtml-mason-perl",
]
POLICY = Path("/usr/sbin/policy-rc.d")


def install_missing():
    missing = [package for package in PACKAGES if not version(package)]
    if not missing:
        return
    if os.geteuid() != 0:
        sys.exit(f"bench: not installed: {' '.join(missing)}; install them, or run once as root")
    created = forbid_services()
    try:
        subprocess.run(
            ["apt-get", "install", "-y", "--no-install-recommends", *missing],
            env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"}, stdout=sys.stderr, check=True,
        )
    finally:
        if created:
            POLICY.unlink()


def version(package):
    query = ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", package]
    status = subprocess.run(query, capture_output=True, text=True).stdout
    return status.removeprefix("installed ") if status.startswith("installed ") else None


def forbid_services():
    """Installing apache2 would otherwise start it on port 80."""
    if POLICY.exists():
        return False
    POLICY.write_text("#!/bin/sh\nexit 101\n")
    POLICY.chmod(0o755)
    return True
