#!/usr/bin/env python3
"""Measures the effects of huge pages and of merging equal pages (KSM) on a pool: memory, and CPU time per request.

    python3 benchmarks/memory_pages.py [--rounds 12] [--seconds 1] [--workers 8]

Three sites: five modules of the documents, loaded before the fork; the same and a table, loaded by each worker's first request; 60 MB of
data loaded before the fork, of which a request reads two hundred records, makes a page of them and keeps the last five hundred pages. Each
is served with every setting, and wrk loads the servers in turn, with as many connections as workers. Memory is that of `cameleer mem --json`
after --warm requests to each worker, when the kernel's scanners find little more to do. CPU time is that of the workers
(/proc/PID/schedstat) per request of wrk: the minimum of all rounds, because other load can only increase it.

`huge pages` has glibc request them (GLIBC_TUNABLES=glibc.malloc.hugetlb=1), so that a machine with the setting `madvise` behaves like one with
`always`. khugepaged, which merges small pages into huge ones, and KSM are set to work quickly, and restored afterwards: run it as root.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from threads import BINARY, await_url, requests_of

PORT = 18950
KERNEL = Path("/sys/kernel/mm")
SCANNERS = {"ksm/pages_to_scan": "2000", "ksm/run": "1", "transparent_hugepage/khugepaged/scan_sleep_millisecs": "10"}
ROUNDS = ["ksm/full_scans", "transparent_hugepage/khugepaged/full_scans"]
SEPARATE = {"ksm/run": "2"}
ASK = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
SETTINGS = {
    "small pages": ({"TransparentHugePages": "Off"}, {}),
    "huge pages": ({"TransparentHugePages": "On"}, ASK),
    "huge pages asked for, Off": ({"TransparentHugePages": "Off"}, ASK),
    "small pages, KSM": ({"TransparentHugePages": "Off", "KernelSamePageMerging": "On"}, {}),
}
CONF = """ServerRoot {folder}
ServerName localhost
Listen 127.0.0.1:{port}
PidFile pid
ErrorLog error.log
ControlSocket control.sock
StartServers {workers}
MinSpareServers {workers}
MaxSpareServers {workers}
MaxClients {workers}
MaxRequestsPerChild 0
<Location />
SetHandler psgi
PSGIApp {folder}/app.psgi
</Location>
"""
MODULES = "CGI DB_File LWP::UserAgent Storable DBI"
APPS = {
    "five modules": """use %s; my $hits = 0;
sub { $hits++; my $q = CGI->new('a=1;b=2'); [ 200, [ 'Content-Type', 'text/html' ], [ join ',', map { $q->escapeHTML($q->param($_)) } 'a', 'b' ] ] }
""" % MODULES.replace(" ", "; use "),
    "the same, loaded late": """my $hits = 0; my %seen;
sub {
    if (!$hits++) { for my $module (qw(MODULES)) { eval "require $module; 1" or die $@ } %seen = map { $_ => "word $_" } 1 .. 50_000 }
    my $q = CGI->new('a=1;b=2');
    return [ 200, [ 'Content-Type', 'text/html' ], [ join ',', $seen{$hits} // '', map { $q->escapeHTML($q->param($_)) } 'a', 'b' ] ];
}
""".replace("MODULES", MODULES),
    "60 MB of data": """my @data = map { { name => "item $_", price => $_ * 1.25, tags => [ map { "tag$_" } $_ % 7 .. $_ % 7 + 3 ], text => "about $_ " x 20 } } 1 .. 60_000;
my @kept;
sub {
    my $page = '';
    for (1 .. 200) {
        my $item = $data[ rand @data ];
        $page .= "<li>$item->{name} <b>$item->{price}</b> " . join(', ', @{ $item->{tags} }) . '</li>';
    }
    push @kept, $page;
    shift @kept if @kept > 500;
    return [ 200, [ 'Content-Type', 'text/html' ], [$page] ];
}
""",
}


@contextmanager
def scanners():
    """Makes the kernel's scanners work quickly; restores the settings afterwards."""
    before = {name: (KERNEL / name).read_text().strip() for name in SCANNERS}
    try:
        write(SCANNERS)
        yield
    finally:
        write(SEPARATE)
        write(before)


def write(values):
    for name, value in values.items():
        (KERNEL / name).write_text(value)


class Server:
    """The server of a setting, in its own folder."""

    def __init__(self, folder, app, name, given):
        self.folder, self.workers = folder / name.replace(" ", "-").replace(",", ""), given.workers
        self.port = PORT + list(SETTINGS).index(name)
        self.folder.mkdir()
        directives, environment = SETTINGS[name]
        (self.folder / "app.psgi").write_text(APPS[app])
        conf = CONF.format(folder=self.folder, port=self.port, workers=self.workers)
        (self.folder / "site.conf").write_text(conf + "".join(f"{k} {v}\n" for k, v in directives.items()))
        out = self.folder / "out"
        command = [BINARY, "serve", "-f", self.folder / "site.conf"]
        self.process = subprocess.Popen(command, stdout=out.open("w"), stderr=subprocess.STDOUT, env=os.environ | environment)
        await_url(self.process, out)

    def memory(self):
        command = [BINARY, "mem", "--json", "--socket", self.folder / "control.sock"]
        return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)

    def ask(self, seconds):
        return requests_of([f"-c{self.workers}", f"-d{seconds}s", f"http://127.0.0.1:{self.port}/"])

    def warm(self, requests):
        """Sends requests until each worker has had enough."""
        while min(worker["requests"] for worker in workers_of(self.memory())) < requests:
            self.ask(2)

    def cpu_microseconds(self, seconds):
        pids = [worker["pid"] for worker in workers_of(self.memory())]
        before = sum(map(spent, pids))
        done = self.ask(seconds)
        return (sum(map(spent, pids)) - before) / done * 1e6

    def stop(self):
        self.process.terminate()
        self.process.wait()


def workers_of(said):
    return [process for process in said["processes"] if process["role"] == "worker"]


def given_back(process):
    """Memory of mold and workers."""
    sizes = process["sizes"] if process["role"] in ("mold", "worker") else {}
    parts = {"pss": 1, "pss_files": -1, "page_tables": 1, "kernel_stacks": 1}
    return sum(sign * sizes.get(name, 0) for name, sign in parts.items())


def spent(pid):
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def look_until_done():
    """Waits until both scanners have passed all pages twice and KSM merges few more; it delays pages that have changed."""
    scans = lambda: [int((KERNEL / name).read_text()) for name in ROUNDS]
    joined = lambda: int((KERNEL / "ksm/pages_sharing").read_text())
    begun, before = scans(), -1
    while any(now < then + 3 for now, then in zip(scans(), begun)) or joined() > before * 1.01:
        before = joined()
        time.sleep(5)


def measure(app, given):
    with tempfile.TemporaryDirectory() as path:
        Path(path).chmod(0o755)
        servers = {}
        try:
            for name in SETTINGS:
                servers[name] = Server(Path(path), app, name, given)
            for server in servers.values():
                server.warm(given.warm)
            look_until_done()
            rows = {name: sizes(server.memory()) for name, server in servers.items()}
            rounds = [[server.cpu_microseconds(given.seconds) for server in servers.values()] for _ in range(given.rounds)]
        finally:
            for server in servers.values():
                server.stop()
    for row, times in zip(rows.values(), zip(*rounds)):
        row["CPU, us a request"] = min(times)
    return rows


def sizes(said):
    workers = workers_of(said)
    return {
        "mold and workers, MB": sum(map(given_back, said["processes"])) / 2**20,
        "private, MB a worker": median(worker["sizes"]["private"] for worker in workers) / 2**20,
        "of mold, %": median(worker["of_mold"] for worker in workers) * 100,
        "huge in workers (RSS), MB": sum(huge_pages(worker["pid"]) for worker in workers) / 1024,
    }


def huge_pages(pid):
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("AnonHugePages:"))


def ksmd():
    found = subprocess.run(["pgrep", "-x", "ksmd"], capture_output=True, text=True).stdout.split()
    return spent(int(found[0])) if found else 0


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=12)
    options.add_argument("--seconds", type=int, default=1)
    options.add_argument("--workers", type=int, default=8)
    options.add_argument("--warm", type=int, default=1000, help="requests to each worker before memory is measured")
    given = options.parse_args()
    with scanners():
        for app in APPS:
            began, searched = time.monotonic(), ksmd()
            rows = measure(app, given)
            busy = (ksmd() - searched) / (time.monotonic() - began)
            columns = list(next(iter(rows.values())))
            print(f"\n| {app} | " + " | ".join(columns) + " |\n|---|" + "---:|" * len(columns))
            for name, row in rows.items():
                print(f"| {name} | " + " | ".join(f"{value:.1f}" for value in row.values()) + " |")
            print(f"\nksmd took {busy:.1%} of a processor", flush=True)


if __name__ == "__main__":
    main()
