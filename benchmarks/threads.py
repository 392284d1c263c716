#!/usr/bin/env python3
"""Measures the gain of a second processor and a second front thread: TLS handshakes, compression, files.

    python3 benchmarks/threads.py [--rounds 5] [--seconds 3] [--only gzip,rsa4096]

The same site three times: on one processor with one thread, on all with one, on all with two. wrk, or 32 processes of `openssl s_time -new`,
load them in turn. These need processors, too; so the results are requests per second, the front's CPU time per request, and the load
of each of its threads (/proc/PID/task/*/schedstat), as medians over the rounds.
"""

import argparse
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

import proc

HERE = Path(__file__).resolve().parent
BINARY = os.environ.get("CAMELEER", str(HERE.parent / "target/release/cameleer"))
PORT = 18800
KEYS = {"p256": "ec -pkeyopt ec_paramgen_curve:P-256", "rsa2048": "rsa:2048", "rsa4096": "rsa:4096"}
WRK = {"gzip": ["/page", "-H", "Accept-Encoding: gzip"], "file": ["/ten.bin"]}
VARIANTS = [("1 processor, 1 thread", ["taskset", "-c", "0"], 1), ("all, 1 thread", [], 1), ("all, 2 threads", [], 2)]
PAGE = 100_000
CLIENTS = 32
CONF = """ServerRoot {folder}
ServerName localhost
Listen 127.0.0.1:{port}
PidFile pid
ErrorLog error.log
ControlSocket control.sock
DocumentRoot {site}
StartServers 4
MinSpareServers 4
MaxSpareServers 4
MaxClients 4
MaxKeepAliveRequests 0
FrontThreads {threads}
<Location /page>
SetHandler psgi
PSGIApp {site}/app.psgi
SetOutputFilter DEFLATE
DeflateCompressionLevel 5
</Location>
"""
HOST = """Listen 127.0.0.1:{port}
<VirtualHost 127.0.0.1:{port}>
SSLEngine On
SSLCertificateFile {site}/{key}.crt
SSLCertificateKeyFile {site}/{key}.key
</VirtualHost>
"""


def make_site(site):
    text = "".join(path.read_text() for path in sorted((HERE.parent / "docs").glob("*.md")))
    (site / "page.txt").write_bytes(text.encode()[:PAGE])
    (site / "ten.bin").write_bytes(os.urandom(10_000))
    read = "my $page = do { local (@ARGV, $/) = '%s/page.txt'; <> };" % site
    (site / "app.psgi").write_text(read + "sub { [200, ['Content-Type', 'text/html'], [$page]] }")
    for key, kind in KEYS.items():
        make = f"openssl req -x509 -nodes -days 2 -subj /CN=localhost -newkey {kind} -keyout {key}.key -out {key}.crt"
        subprocess.run(make.split(), cwd=site, check=True, stderr=subprocess.DEVNULL)


def start(site, number):
    _, prefix, threads = VARIANTS[number]
    folder, port = site / str(number), PORT + 10 * number
    folder.mkdir()
    hosts = [HOST.format(port=port + 1 + n, site=site, key=key) for n, key in enumerate(KEYS)]
    conf = folder / "site.conf"
    conf.write_text(CONF.format(folder=folder, port=port, site=site, threads=threads) + "".join(hosts))
    out = folder / "out"
    server = subprocess.Popen([*prefix, BINARY, "serve", "-f", conf], stdout=out.open("w"), stderr=subprocess.STDOUT)
    await_url(server, out)
    return server


def await_url(server, out):
    """Waits until the server has printed its address; exits with its output otherwise."""
    while "http" not in out.read_text():
        if server.poll() is not None:
            raise SystemExit(out.read_text())
        time.sleep(0.1)


def front_of(server):
    return next(process.pid for process in proc.tree(server.pid) if "front" in proc.title(process.pid))


def spent(pid):
    """CPU seconds of its threads, summed by name."""
    seconds = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        name = (task / "comm").read_text().strip()
        seconds[name] = seconds.get(name, 0) + int((task / "schedstat").read_text().split()[0]) / 1e9
    return seconds


def load(what, port, seconds):
    """Number of responses or handshakes."""
    if what in WRK:
        path, *headers = WRK[what]
        return requests_of([f"-c{CLIENTS}", f"-d{seconds}s", *headers, f"http://127.0.0.1:{port}{path}"])
    address = f"127.0.0.1:{port + 1 + list(KEYS).index(what)}"
    command = ["openssl", "s_time", "-connect", address, "-new", "-time", str(seconds)]
    clients = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for _ in range(CLIENTS)]
    return sum(int(re.search(r"(\d+) connections in \d+ real", client.communicate()[0])[1]) for client in clients)


def requests_of(options):
    """Number of responses in a run of wrk, which must have no errors."""
    said = subprocess.run(["wrk", "-t1", *options], capture_output=True, text=True, check=True).stdout
    assert "Non-2xx" not in said, said
    return int(re.search(r"(\d+) requests in", said)[1])


def measure(what, number, server, seconds):
    front = front_of(server)
    before, began = spent(front), time.monotonic()
    done = load(what, PORT + 10 * number, seconds)
    took, after = time.monotonic() - began, spent(front)
    used = {name: after[name] - before.get(name, 0) for name in after}
    busy = {name: used[name] / took for name in used}
    return {"rate": done / took, "cpu": sum(used.values()) / done * 1e6, "busy": busy}


def report(what, name, rounds):
    threads = {thread for each in rounds for thread in each["busy"]}
    busy = {thread: median(each["busy"].get(thread, 0) for each in rounds) for thread in sorted(threads)}
    shown = ", ".join(f"{thread} {part:.0%}" for thread, part in busy.items() if part > 0.005)
    rate, cpu = median(each["rate"] for each in rounds), median(each["cpu"] for each in rounds)
    print(f"{what:8} {name:22} {rate:9,.0f}/s {cpu:9,.1f} us   {shown}", flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--seconds", type=int, default=3)
    options.add_argument("--only", default=",".join([*WRK, *KEYS]))
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder)
        site.chmod(0o755)
        make_site(site)
        servers = [start(site, number) for number in range(len(VARIANTS))]
        try:
            for what in given.only.split(","):
                rounds = [[measure(what, number, server, given.seconds) for number, server in enumerate(servers)]
                          for _ in range(given.rounds)]
                for (name, _, _), its in zip(VARIANTS, zip(*rounds)):
                    report(what, name, its)
        finally:
            for server in servers:
                server.terminate()
            for server in servers:
                server.wait()


if __name__ == "__main__":
    main()
