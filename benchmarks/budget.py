#!/usr/bin/env python3
"""Measures the memory that a refork saves, and whether MemoryBudget holds.

    python3 benchmarks/budget.py refork [--reforks 20]      about 4 minutes
    python3 benchmarks/budget.py leak [--minutes 10]        a minute more than that
    python3 benchmarks/budget.py overhead [--rounds 7]      about 1 minute

refork: an application that loads its modules at the first request, with 4 workers. Measures their private memory after 2,000 requests, before
a refork, and after 2,000 more; also for Starman and Apache with mod_perl 2 (both through Plack, with the program loaded before the fork).
Then consecutive reforks under load: the workers' CPU time per request after the first and the last one, and descriptors.

leak: a program that leaks a megabyte per request, at full load, with MemoryBudget 512M. Measures the server's peak memory, failed requests,
and the 99th percentile of latency, compared with the same program without the leak, for a minute.

overhead: CPU time of all processes per small request, with MemoryBudget auto and off in alternating rounds.
"""

import argparse
import json

import re
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

from memory_pages import CONF, spent, workers_of
from threads import BINARY, await_url, requests_of

PORT = 18970
WORKERS = 4
LAZY = """my $hits = 0;
sub {
    if (!$hits++) { eval "require $_; 1" or die $@ for qw(CGI DBI LWP::UserAgent Storable Moose DateTime Template XML::LibXML HTML::Mason::Interp JSON::PP) }
    return [ 200, [ 'Content-Type', 'text/plain' ], [ DateTime->now->ymd . length Storable::freeze({ %ENV }) ] ];
}
"""
LEAK = "my @kept; sub { my $much = 1_000_000; push @kept, 'x' x $much%s; [ 200, [ 'Content-Type', 'text/plain' ], [ 'ok' ] ] }"
SMALL = "sub { [ 200, [ 'Content-Type', 'text/plain' ], [ 'hello' ] ] }"
APACHE = """ServerRoot {folder}
ServerName localhost
Listen 127.0.0.1:{port}
PidFile apache.pid
ErrorLog error.log
LoadModule mpm_prefork_module /usr/lib/apache2/modules/mod_mpm_prefork.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule perl_module /usr/lib/apache2/modules/mod_perl.so
User {user}
Group {user}
StartServers {workers}
MinSpareServers {workers}
MaxSpareServers {workers}
MaxRequestWorkers {workers}
ServerLimit {workers}
KeepAlive On
MaxKeepAliveRequests 0
PerlModule Plack::Handler::Apache2
<Perl>
Plack::Handler::Apache2->preload('{folder}/app.psgi');
</Perl>
<Location />
SetHandler perl-script
PerlResponseHandler Plack::Handler::Apache2
PerlSetVar psgi_app {folder}/app.psgi
</Location>
"""


class Server:
    def __init__(self, folder, app, directives="", port=PORT):
        folder.mkdir()
        self.folder, self.port = folder, port
        (folder / "app.psgi").write_text(app)
        conf = CONF.format(folder=folder, port=port, workers=WORKERS)
        (folder / "site.conf").write_text(conf + "LogLevel info\n" + directives)
        out = folder / "out"
        self.process = subprocess.Popen([BINARY, "serve", "-f", folder / "site.conf"], stdout=out.open("w"), stderr=subprocess.STDOUT)
        await_url(self.process, out)

    def control(self, *words):
        done = subprocess.run([BINARY, *words, "--socket", self.folder / "control.sock"], capture_output=True, text=True, check=True)
        return done.stdout

    def memory(self):
        return json.loads(self.control("mem", "--json"))

    def load(self, seconds, connections=WORKERS):
        return requests_of([f"-c{connections}", f"-d{seconds}s", f"http://127.0.0.1:{self.port}/"])

    def stop(self):
        self.process.terminate()
        self.process.wait()


def private(pids):
    return sum(int(line.split()[1]) for pid in pids for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
               if line.startswith("Private_")) / 1024


def children(pid):
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def pids(server):
    return [worker["pid"] for worker in workers_of(server.memory())]


def ask_each(server, requests=500):
    while min(worker["requests"] for worker in workers_of(server.memory())) < requests:
        server.load(1)


def starman(folder):
    folder.mkdir()
    (folder / "app.psgi").write_text(LAZY)
    command = ["starman", "--preload-app", "--workers", str(WORKERS), "--listen", f"127.0.0.1:{PORT + 1}", "--max-requests", "1000000", folder / "app.psgi"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL), PORT + 1


def apache(folder):
    folder.mkdir()
    (folder / "app.psgi").write_text(LAZY)
    (folder / "apache.conf").write_text(APACHE.format(folder=folder, port=PORT + 2, workers=WORKERS, user="www-data"))
    command = ["apache2", "-f", folder / "apache.conf", "-DFOREGROUND"]
    # Starman signals its whole process group at its end, which must not be this program's.
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True), PORT + 2


def peer(name, start, folder):
    process, port = start(folder / name.replace(" ", "-"))
    try:
        url = f"http://127.0.0.1:{port}/"
        while subprocess.run(["curl", "-fs", url], capture_output=True).returncode:
            if process.poll() is not None:
                return print(f"{name}: did not start")
            time.sleep(0.2)
        for _ in range(4):
            # One connection per request, so that all workers get requests.
            requests_of([f"-c{WORKERS}", "-d1s", "-H", "Connection: close", url])
        print(f"{name}: workers have {private(children(process.pid)):.1f} MB of private memory", flush=True)
    finally:
        process.terminate()
        process.wait()


def cpu_of_request(server):
    before, began = sum(map(spent, pids(server))), server.load(1)
    return (sum(map(spent, pids(server))) - before) / began * 1e6


def refork(given, folder):
    for name, start in (("Starman", starman), ("mod_perl 2", apache)):
        peer(name, start, folder)
    server = Server(folder / "cameleer", LAZY)
    try:
        ask_each(server)
        before, at_start = private(pids(server)), median(cpu_of_request(server) for _ in range(7))
        server.control("refork")
        ask_each(server)
        after = private(pids(server))
        print(f"Cameleer: {before:.1f} MB before a refork, {after:.1f} after: {before / after:.1f} times less", flush=True)
        first, open_at_first = median(cpu_of_request(server) for _ in range(7)), descriptors(server)
        failed = reforks_under_load(server, given.reforks)
        ask_each(server)
        last = median(cpu_of_request(server) for _ in range(7))
        print(f"{given.reforks} more in a row under load: {failed} requests failed; {at_start:.1f} us a request before any, {first:.1f} after the first, "
              f"{last:.1f} after the last ({last / at_start - 1:+.1%}); descriptors {open_at_first} and {descriptors(server)}")
        times = [int(us) for us in re.findall(r"ready fork_us=(\d+)", (server.folder / "error.log").read_text())]
        mold = next(process["sizes"]["rss"] for process in server.memory()["processes"] if process["role"] == "mold")
        print(f"fork to ready: median {median(times) / 1000:.2f} ms of {len(times)}, from molds of up to {mold / 2**20:.0f} MB")
    finally:
        server.stop()


def reforks_under_load(server, times):
    """The number of wrk's requests that failed meanwhile."""
    url = f"http://127.0.0.1:{server.port}/"
    load = subprocess.Popen(["wrk", "-t1", f"-c{WORKERS}", "-d3600s", url], stdout=subprocess.PIPE, text=True)
    for _ in range(times):
        server.control("refork")
        time.sleep(0.5)
    load.send_signal(2)
    said = load.communicate()[0]
    wrong = re.findall(r"Non-2xx or 3xx responses: (\d+)|Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", said)
    return sum(int(number) for found in wrong for number in found if number)


def descriptors(server):
    return max(len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in pids(server))


class Watch(threading.Thread):
    """Peak memory of the server over all measurements: each page once, with page tables."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.most, self.done = server, 0, threading.Event()

    def run(self):
        while not self.done.wait(1):
            total = self.server.memory()["total"]
            self.most = max(self.most, total["pss"] + total["page_tables"])


def leak(given, folder):
    results = []
    for name, app in (("clean", LEAK % "; @kept = ()"), ("leaking", LEAK % "")):
        server = Server(folder / name, app, "MemoryBudget 512M\nLogLevel warn\n")
        watch = Watch(server)
        watch.start()
        try:
            seconds = int(given.minutes * 60) if name == "leaking" else 60
            said = subprocess.run(["wrk", "-t1", "-c32", f"-d{seconds}s", "--latency", "--timeout", "30s", f"http://127.0.0.1:{server.port}/"],
                                  capture_output=True, text=True, check=True).stdout
        finally:
            watch.done.set()
            watch.join()
            server.stop()
        results.append((name, watch.most))
        wanted = [line.strip() for line in said.splitlines() if re.search(r"50%|99%|requests in|Non-2xx|Socket errors", line)]
        print(f"{name}: at most {watch.most / 2**20:.0f} MB; {'; '.join(wanted)}", flush=True)


def overhead(given, folder):
    servers = {name: Server(folder / name, SMALL, f"MemoryBudget {name}\n", PORT + number) for number, name in enumerate(("auto", "off"))}
    try:
        time.sleep(3)
        rounds = [{name: cpu_of_all(server) for name, server in servers.items()} for _ in range(given.rounds)]
        for name in servers:
            print(f"MemoryBudget {name}: {median(each[name] for each in rounds):.2f} us a request, all processes")
        print(f"the ratio of each round, median: {median(each['auto'] / each['off'] for each in rounds):.3f}")
        sampler = next(pid for pid in children(servers["auto"].process.pid) if Path(f"/proc/{pid}/comm").read_text().strip() == "cameleer-sample")
        before = spent(sampler)
        time.sleep(10)
        print(f"the sampler takes {(spent(sampler) - before) / 10:.2%} of a processor, and has {private([sampler]):.1f} MB of private memory")
    finally:
        for server in servers.values():
            server.stop()


def cpu_of_all(server):
    everybody = lambda: [server.process.pid, *descendants(server.process.pid)]
    before, done = sum(map(threads_spent, everybody())), server.load(2, 32)
    return (sum(map(threads_spent, everybody())) - before) / done * 1e6


def threads_spent(pid):
    return sum(int((task / "schedstat").read_text().split()[0]) for task in Path(f"/proc/{pid}/task").iterdir()) / 1e9


def descendants(pid):
    return [one for child in children(pid) for one in (child, *descendants(child))]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("what", choices=["refork", "leak", "overhead"])
    options.add_argument("--reforks", type=int, default=20)
    options.add_argument("--minutes", type=float, default=10)
    options.add_argument("--rounds", type=int, default=7)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as path:
        Path(path).chmod(0o755)
        {"refork": refork, "leak": leak, "overhead": overhead}[given.what](given, Path(path))


if __name__ == "__main__":
    main()
