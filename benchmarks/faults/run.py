#!/usr/bin/env python3
"""make faults: effects of faults on clients of Cameleer, Apache + mod_perl 2, and nginx + Starman."""

import argparse
import resource
import signal
import sys
from datetime import date
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import packages
from catalogue import CATALOGUE
from peers import Missing
from report import new_folder, table
from server import Failed
from servers import SERVERS, running

INTRO = (
    "Each row: one fault, done once to a server of its own with 4 workers, on one machine, one after the other. "
    "Clients use a connection for each request and wait 10 s at most unless the row says less."
)


def main():
    args = parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if args.install:
        packages.install_missing()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    # A limit for the clients' files; each server sets its own limit.
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 16384), hard))
    faults = [fault for fault in CATALOGUE if not args.only or fault.name in args.only]
    kinds = [kind for kind in SERVERS if not args.server or kind.name.lower().startswith(tuple(args.server))]
    rows = [[fault.title, fault.wanted, *(tried(fault, kind) for kind in kinds)] for fault in faults]
    text = f"# Faults, {date.today()}\n\n{INTRO}\n\n" + table(["fault", "wanted", *(kind.name for kind in kinds)], rows) + "\n"
    (new_folder(args.runs, f"{date.today()}-faults") / "summary.md").write_text(text)
    print(text, end="")


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    names = lambda text: text.lower().split(",")
    parser.add_argument("--only", type=names, metavar="NAME,...", help=", ".join(fault.name for fault in CATALOGUE))
    parser.add_argument("--server", type=names, metavar="NAME,...", help="prefixes of names: cameleer, apache, nginx")
    parser.add_argument("--runs", type=Path, default=HERE.parent / "runs", help="folder of the reports")
    parser.add_argument("--no-install", dest="install", action="store_false", help="never call apt-get")
    return parser.parse_args()


def tried(fault, kind):
    print(f"{fault.name}: {kind.name}", file=sys.stderr)
    try:
        with running(kind, **fault.conditions) as server:
            return fault.happen(server)
    except Missing as reason:
        return str(reason)
    except (Failed, OSError) as reason:
        return f"failed: {reason}"


if __name__ == "__main__":
    main()
