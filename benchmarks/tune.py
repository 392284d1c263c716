#!/usr/bin/env python3
"""Checks whether `cameleer tune` finds the optimum of a full sweep, for four kinds of load, several times each.

For each load a full sweep measures every number of workers in a list, with separate servers, in turn; `tune` runs as for a
user. Its choice is then compared with the best of the sweep, again in turn. Target: within 5 % of the best,
in less than three minutes, each time.
"""

import argparse
import json
import math
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIZES = [1, 2, 3, 4, 6, 8, 10, 12, 16, 24, 32, 48, 64, 100]
# A kernel semaphore limits connections to eight: a ninth waits.
LIMITED = """
use IPC::SysV qw(IPC_CREAT SEM_UNDO); use Time::HiRes 'sleep';
my $key = {key}; my $sem = semget($key, 1, 0600 | IPC_CREAT);
sub {{
    semop($sem, pack 's!3', 0, -1, SEM_UNDO) or die "semop: $!";
    sleep {seconds};
    semop($sem, pack 's!3', 0, 1, SEM_UNDO);
    [200, ['Content-Type', 'text/plain'], ["ok\\n"]]
}}
"""
LOADS = {
    "light": "sub { [200, ['Content-Type', 'text/plain'], [\"ok\\n\"]] }",
    "cpu": "sub { my $x = 0; $x += $_ * 3 for 1 .. 30_000; [200, ['Content-Type', 'text/plain'], [\"$x\\n\"]] }",
    "mysql-limited": LIMITED,
    "mixed": """
use Time::HiRes 'sleep'; my $n = $$;
sub {
    my $kind = $_[0]{PATH_INFO};
    my $x = 0;
    if ($kind eq '/cpu') { $x += $_ * 3 for 1 .. 30_000 }
    if ($kind eq '/db') { sleep 0.02 }
    [200, ['Content-Type', 'text/plain'], ["$x\\n"]]
}""",
}
PATHS = {"mixed": ["/light", "/light", "/cpu", "/db"]}
CONFIGURATION = """
Listen 127.0.0.1:{port}
ServerName localhost
PidFile {folder}/pid{number}
ControlSocket {folder}/control{number}.sock
ErrorLog {folder}/error.log
QueueTimeout 1h
QueueStale 0
{pool}
<Location />
PsgiApp {folder}/app.psgi
</Location>
"""


def main():
    args = arguments()
    results = [study(args, name) for name in args.loads]
    for line in (line for lines, _ in results for line in lines):
        print(line)
    sys.exit(0 if all(good for _, good in results) else 1)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loads", nargs="+", default=list(LOADS), choices=list(LOADS))
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="duration for each number of workers in each round")
    parser.add_argument("--visitors", type=int, default=100)
    parser.add_argument("--cameleer", default=os.environ.get("CAMELEER", ROOT / "target/release/cameleer"))
    return parser.parse_args()


def study(args, name):
    with tempfile.TemporaryDirectory() as folder:
        site = Site(args, name, Path(folder))
        sweep = site.turns(SIZES, args.rounds)
        best = max(sweep, key=lambda size: statistics.median(sweep[size]))
        lines = [f"{name}: full sweep, requests/s: " + "  ".join(f"{size}: {statistics.median(rates):.0f}" for size, rates in sweep.items())]
        good = True
        for number in range(args.times):
            report, took = site.tune()
            chosen = report["chosen"]
            last = site.turns(sorted({chosen, best}), 2 * args.rounds)
            logs = [math.log(one / other) for one, other in zip(last[chosen], last[best])]
            ratio = math.exp(statistics.mean(logs))
            margin = 2.26 * statistics.stdev(logs) / math.sqrt(len(logs)) if chosen != best else 0
            good &= ratio >= 0.95 and took < 180
            lines.append(f"{name}: tune {number + 1}: {chosen} workers, {100 * ratio:.1f} % (± {100 * margin:.1f}) of the best ({best}), in {took:.0f} s")
        return lines, good


class Site:
    def __init__(self, args, name, folder):
        self.args, self.name, self.folder = args, name, folder
        folder.chmod(0o755)
        self.key = 0x7475 << 16 | os.getpid() & 0xFFFF
        text = LOADS[name].format(key=self.key, seconds=0.03) if name == "mysql-limited" else LOADS[name]
        (folder / "app.psgi").write_text(text)
        self.paths = PATHS.get(name, ["/"])
        (folder / "urls.txt").write_text("\n".join(self.paths) + "\n")
        if name == "mysql-limited":
            subprocess.run(["perl", "-MIPC::SysV=IPC_CREAT,SETVAL", "-e",
                            f"my $s = semget({self.key}, 1, 0666 | IPC_CREAT) // die $!; semctl($s, 0, SETVAL, 8) or die $!"], check=True)

    def turns(self, sizes, rounds):
        """Requests/s for each number of workers; all servers run, and are loaded one after the other."""
        with ExitStack() as stack:
            servers = {size: stack.enter_context(self.server(size)) for size in sizes}
            for port in servers.values():
                self.bench(port, 1.0)
            rates = {size: [] for size in sizes}
            for number in range(rounds):
                order = list(sizes) if number % 2 == 0 else list(reversed(sizes))
                for size in order:
                    rates[size].append(self.bench(servers[size], self.args.seconds))
            return rates

    def server(self, size):
        return Server(self, size)

    def bench(self, port, seconds):
        command = [self.args.cameleer, "bench", f"http://127.0.0.1:{port}/", "--urls", self.folder / "urls.txt", "--json",
                   "-c", str(self.args.visitors), "-t", str(seconds), "--warm-up", "0.3"]
        said = subprocess.run(command, capture_output=True, text=True)
        return json.loads(said.stdout)["requests_per_second"]

    def tune(self):
        conf = self.conf("tune", free_port(), "")
        began = time.monotonic()
        command = [self.args.cameleer, "tune", "-f", conf, "--json", "--visitors", str(self.args.visitors), *self.paths]
        said = subprocess.run(command, capture_output=True, text=True)
        if said.returncode:
            sys.exit(said.stderr)
        return json.loads(said.stdout), time.monotonic() - began

    def conf(self, number, port, pool):
        path = self.folder / f"site{number}.conf"
        path.write_text(CONFIGURATION.format(port=port, folder=self.folder, number=number, pool=pool))
        return path


class Server:
    def __init__(self, site, size):
        self.site, self.size = site, size

    def __enter__(self):
        port = free_port()
        names = ["StartServers", "MinSpareServers", "MaxSpareServers", "MaxClients"]
        conf = self.site.conf(self.size, port, "\n".join(f"{name} {self.size}" for name in names))
        self.child = subprocess.Popen([self.site.args.cameleer, "serve", "-f", conf], stdout=subprocess.PIPE, text=True)
        if "http" not in self.child.stdout.readline():
            sys.exit("the server does not start")
        return port

    def __exit__(self, *_):
        self.child.terminate()
        self.child.wait()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


if __name__ == "__main__":
    main()
