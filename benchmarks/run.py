#!/usr/bin/env python3
"""make bench: compares Cameleer with mod_perl 2 and Starman on this machine."""

import argparse
import shutil
import signal
import sys
import tempfile
from datetime import date
from pathlib import Path

import machine
import packages
import report
import scenarios
from settings import Settings
from site_files import Site

HERE = Path(__file__).resolve().parent


def main():
    args = parse_args()
    # TERM must unwind the stack, because servers are stopped in `finally`.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if args.install:
        packages.install_missing()
    settings = Settings.quick() if args.quick else Settings(
        rounds=args.rounds, seconds=args.seconds, threads=args.threads, work_ms=args.work)
    site = Site.create(HERE, Path(tempfile.mkdtemp(prefix="bench-")), settings)
    try:
        results = scenarios.run(site, args.only, args.scenario)
    finally:
        keep_or_remove(site, args.keep)
    results |= machine.describe(site) | {"label": args.label, "date": str(date.today())}
    folder = report.write(results, args.runs)
    print((folder / "summary.md").read_text(), end="")


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    names = lambda text: text.split(",")
    parser.add_argument("--quick", action="store_true", help="1 s, one round: a smoke test, not a measurement")
    parser.add_argument("--rounds", type=int, default=Settings.rounds, metavar="N", help="%(default)s unless given")
    parser.add_argument("--seconds", type=int, default=Settings.seconds, metavar="N", help="duration of each load; %(default)s unless given")
    parser.add_argument("--threads", type=int, default=Settings.threads, metavar="N",
                        help="FrontThreads of static files, and nginx's worker_processes; %(default)s unless given")
    parser.add_argument("--work", type=float, default=Settings.work_ms, metavar="MS",
                        help="duration of the handler in the rows called 1 ms; %(default)s unless given")
    parser.add_argument("--only", type=names, metavar="NAME,...", help="servers: " + ", ".join(scenarios.FAMILIES))
    parser.add_argument("--scenario", type=names, metavar="NAME,...", help="; ".join(scenarios.NAMES_HELP))
    parser.add_argument("--label", default="local", help="name of the run; must not identify the host")
    parser.add_argument("--runs", type=Path, default=HERE / "runs", help="folder of the runs")
    parser.add_argument("--no-install", dest="install", action="store_false", help="never call apt-get")
    parser.add_argument("--keep", action="store_true", help="keep the servers' files and logs")
    args = parser.parse_args()
    for name in set(args.only or []) - set(scenarios.FAMILIES):
        parser.error(f'--only: no server "{name}", expected one of {", ".join(scenarios.FAMILIES)}')
    for name in set(args.scenario or []) - set(scenarios.NAMES):
        parser.error(f'--scenario: no scenario "{name}", expected one of {", ".join(scenarios.NAMES)}')
    return args


def keep_or_remove(site, keep):
    if keep:
        print(f"kept: {site.root}", file=sys.stderr)
    else:
        shutil.rmtree(site.root)


if __name__ == "__main__":
    main()
