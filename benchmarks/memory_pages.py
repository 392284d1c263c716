#!/usr/bin/env python3
"""What huge pages and the merging of equal pages (KSM) make of a pool: memory, and CPU time for each request.

    python3 benchmarks/memory_pages.py [--rounds 5] [--seconds 3] [--workers 8]

Three sites with each setting, the settings in turns: five modules of the documents, loaded before the fork; the same and a table, loaded by
each worker's first request; 60 MB of data loaded before the fork, of which a request reads two hundred records, makes a page of them and
keeps the last five hundred pages. wrk asks from as many connections as there are workers. Memory is what `cameleer mem
--json` says when each worker has had --warm requests and the kernel has looked at all pages twice; CPU time is that of the workers
(/proc/PID/schedstat) by the requests of wrk, beside it that of ksmd and khugepaged. Medians over the rounds.

`huge pages` asks glibc to ask for them (GLIBC_TUNABLES=glibc.malloc.hugetlb=1), so that a machine whose setting is `madvise` gives them
as one does whose setting is `always`. While they are measured, khugepaged (which collapses small pages) and KSM are set to work quickly, and put
back as they were: run it as root.
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
# What of the kernel goes through all pages, as quickly as it can; where it counts its rounds; what ends it.
KSM = ({"ksm/pages_to_scan": "2000", "ksm/run": "1"}, "ksm/full_scans", {"ksm/run": "2"})
COLLAPSE = ({"transparent_hugepage/khugepaged/scan_sleep_millisecs": "10"}, "transparent_hugepage/khugepaged/full_scans", {})
ASK = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
SETTINGS = {
    "small pages": ({"TransparentHugePages": "Off"}, {}, None),
    "huge pages": ({"TransparentHugePages": "On"}, ASK, None),
    "huge pages, after khugepaged": ({"TransparentHugePages": "On"}, ASK, COLLAPSE),
    "huge pages asked for, Off": ({"TransparentHugePages": "Off"}, ASK, None),
    "small pages, KSM": ({"TransparentHugePages": "Off", "KernelSamePageMerging": "On"}, {}, KSM),
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
def at_work(scanner):
    """A scanner of the kernel at work, and the machine as it was again."""
    begin, _, end = scanner or ({}, None, {})
    before = {name: (KERNEL / name).read_text().strip() for name in begin}
    try:
        write(begin)
        yield
    finally:
        write(end)
        write(before)


def write(values):
    for name, value in values.items():
        (KERNEL / name).write_text(value)


@contextmanager
def server(folder, app, directives, environment, workers):
    (folder / "app.psgi").write_text(APPS[app])
    conf = CONF.format(folder=folder, port=PORT, workers=workers) + "".join(f"{k} {v}\n" for k, v in directives.items())
    (folder / "site.conf").write_text(conf)
    out = folder / "out"
    process = subprocess.Popen([BINARY, "serve", "-f", folder / "site.conf"], stdout=out.open("w"), stderr=subprocess.STDOUT,
                               env=os.environ | environment)
    try:
        await_url(process, out)
        yield process
    finally:
        process.terminate()
        process.wait()


def memory(folder):
    said = subprocess.run([BINARY, "mem", "--json", "--socket", folder / "control.sock"], capture_output=True, check=True)
    return json.loads(said.stdout)


def workers_of(said):
    return [process for process in said["processes"] if process["role"] == "worker"]


def given_back(process):
    """Of mold and workers: glibc's setting is no matter of theirs alone."""
    sizes = process["sizes"] if process["role"] in ("mold", "worker") else {}
    parts = {"pss": 1, "pss_files": -1, "page_tables": 1, "kernel_stacks": 1}
    return sum(sign * sizes.get(name, 0) for name, sign in parts.items())


def warm(folder, workers, requests):
    """Until each worker has had its requests."""
    while min(worker["requests"] for worker in workers_of(memory(folder))) < requests:
        ask(workers, 2)


def ask(workers, seconds):
    return requests_of([f"-c{workers}", f"-d{seconds}s", f"http://127.0.0.1:{PORT}/"])


def spent(pid):
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def faults(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[7])


def kernel_thread(name):
    found = subprocess.run(["pgrep", "-x", name], capture_output=True, text=True).stdout.split()
    return int(found[0]) if found else None


def look_twice(scanner):
    """Until it has gone through all pages twice: KSM joins those that it has found unchanged."""
    if scanner:
        scans = lambda: int((KERNEL / scanner[1]).read_text())
        begun = scans()
        while scans() < begun + 3:
            time.sleep(0.2)


def measure(app, name, given):
    directives, environment, scanner = SETTINGS[name]
    with tempfile.TemporaryDirectory() as path, at_work(scanner):
        folder = Path(path)
        folder.chmod(0o755)
        with server(folder, app, directives, environment, given.workers):
            warm(folder, given.workers, given.warm)
            look_twice(scanner)
            said = memory(folder)
            pids = [worker["pid"] for worker in workers_of(said)]
            helpers = [pid for pid in map(kernel_thread, ["ksmd", "khugepaged"]) if pid]
            before = [sum(map(what, who)) for what, who in ((spent, pids), (faults, pids), (spent, helpers))]
            done = ask(given.workers, given.seconds)
            after = [sum(map(what, who)) for what, who in ((spent, pids), (faults, pids), (spent, helpers))]
            cpu, faulted, helped = (b - a for a, b in zip(before, after))
            huge = sum(map(huge_pages, pids))
            return {
                "mold and workers, MB": sum(map(given_back, said["processes"])) / 2**20,
                "private, MB a worker": median(worker["sizes"]["private"] for worker in workers_of(said)) / 2**20,
                "of mold": median(worker["of_mold"] for worker in workers_of(said)) * 100,
                "huge in workers (RSS), MB": huge / 1024,
                "CPU, us a request": cpu / done * 1e6,
                "faults a request": faulted / done,
                "kernel threads, us a request": helped / done * 1e6,
            }


def huge_pages(pid):
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("AnonHugePages:"))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--seconds", type=int, default=3)
    options.add_argument("--workers", type=int, default=8)
    options.add_argument("--warm", type=int, default=1000, help="requests to each worker before memory is read")
    options.add_argument("--only", default="", help="settings that begin so")
    given = options.parse_args()
    settings = [name for name in SETTINGS if name.startswith(given.only)]
    cases = [(app, name) for app in APPS for name in settings]
    rounds = {case: [] for case in cases}
    for _ in range(given.rounds):
        for case, results in rounds.items():
            results.append(measure(*case, given))
    columns = list(rounds[cases[0]][0])
    for app in APPS:
        print(f"\n| {app} | " + " | ".join(columns) + " |\n|---|" + "---:|" * len(columns))
        for name in settings:
            middle = [median(result[column] for result in rounds[app, name]) for column in columns]
            print(f"| {name} | " + " | ".join(f"{value:.1f}" for value in middle) + " |", flush=True)


if __name__ == "__main__":
    main()
