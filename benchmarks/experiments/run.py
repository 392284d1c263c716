#!/usr/bin/env python3
"""make experiments: repeats the experiments of mod_perl's documents, also with Apache and mod_perl 2 where possible."""

import argparse
import shutil
import signal
import sqlite3
import sys
import tempfile
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import ab
import memory
import packages
from catalogue import ALL
from experiment import BOTH
from peers import PEERS, Missing
from report import new_folder, table
from server import Failed
from variant import Site, started


def main():
    args = parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if args.install:
        packages.install_missing()
    root = Path(tempfile.mkdtemp(prefix="experiments-"))
    try:
        prepare(root)
        parts = [of(experiment, root, args.rounds) for experiment in ALL if wanted(experiment.name, args.only)]
        if wanted("memory", args.only):
            parts.append(memory.report(root))
    finally:
        shutil.rmtree(root)
    folder = new_folder(args.runs, f"{date.today()}-experiments")
    (folder / "summary.md").write_text(f"# The documents' experiments, {date.today()}\n\n{INTRO}\n\n" + "\n\n".join(parts) + "\n")
    print((folder / "summary.md").read_text(), end="")


INTRO = (
    "Medians of interleaved rounds; load by ab without keep-alive, as theirs. avtime: milliseconds a client waits. "
    "CPU µs: of all the server's processes, for each request; it carries over to other machines, requests per second do not."
)


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", type=lambda text: text.split(","), metavar="NAME,...",
                        help=", ".join(experiment.name for experiment in ALL) + ", memory")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="%(default)s unless given")
    parser.add_argument("--runs", type=Path, default=HERE.parent / "runs", help="folder of the reports")
    parser.add_argument("--no-install", dest="install", action="store_false", help="never call apt-get")
    return parser.parse_args()


def wanted(name, only):
    return not only or name in only


def prepare(root):
    shutil.copytree(HERE / "apps", root, dirs_exist_ok=True)
    # Apache's workers are not root, and write SQLite's journal beside the database and sessions beside their pages.
    for folder in (root, *root.glob("asp*")):
        folder.chmod(0o777)
    (root / "mime.types").write_text("text/plain txt\n")
    with sqlite3.connect(root / "hits.sqlite") as database:
        database.execute("CREATE TABLE hits (n INTEGER)")
        database.execute("INSERT INTO hits VALUES (0)")
    (root / "hits.sqlite").chmod(0o666)


def of(experiment, root, rounds):
    print(experiment.name, file=sys.stderr)
    rows = [row(variant, root, rounds) for variant in experiment.variants]
    header = ["variant", f"document: {experiment.column}"]
    for server in BOTH:
        header += [f"{server}: avtime", "completed", "failed", "rps", "CPU µs"]
    return f"## {experiment.title} ({experiment.document})\n\n{experiment.question}\n\n" + table(header, rows)


def row(variant, root, rounds):
    results = {server: [] for server in BOTH}
    absent = {}
    with ExitStack() as stack:
        running = {}
        for name in BOTH:
            try:
                if name not in variant.conf:
                    raise Missing("cannot run it")
                running[name] = stack.enter_context(started(PEERS[name], Site(root, variant), variant.path))
            except (Missing, Failed) as reason:
                absent[name] = str(reason)
        for _ in range(rounds):
            for name, server in running.items():
                try:
                    results[name].append(ab.measure(server, variant.path, variant.load, variant.session))
                except Failed as reason:
                    absent[name] = str(reason)
    cells = [variant.name, variant.theirs]
    for name in BOTH:
        cells += figures(results[name]) if results[name] else [absent.get(name, "-")[:60], "", "", "", ""]
    return cells


def figures(results):
    of = lambda field: median(getattr(result, field) for result in results)
    total = lambda field: sum(getattr(result, field) for result in results)
    return [f'{of("avtime"):.2f}', f'{total("completed")}', f'{total("failed")}', f'{of("rps"):.0f}', f'{of("cpu_us"):.0f}']


if __name__ == "__main__":
    main()
