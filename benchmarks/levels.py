#!/usr/bin/env python3
"""Measures the compressed size of a page and the front's CPU time, for each level of each coding.

    python3 benchmarks/levels.py PAGE [--rounds 3] [--seconds 1] [--up-to 9]

A small program serves PAGE at one location per level; wrk loads the locations in turn from 16 connections, and /proc/PID/task/*/schedstat has
the front's CPU time. The column `CPU` excludes the cost of the uncompressed page. Results are medians over the rounds.
"""

import argparse
import http.client
import subprocess
import tempfile
from pathlib import Path
from statistics import median

from threads import BINARY, CONF, await_url, front_of, requests_of, spent

PORT = 18900
CODINGS = {
    "gzip": ("DEFLATE", "DeflateCompressionLevel", range(1, 10)),
    "br": ("BROTLI_COMPRESS", "BrotliCompressionQuality", range(0, 12)),
    "zstd": ("ZSTD", "ZstdCompressionLevel", range(1, 20)),
}
PLACE = """<Location /{coding}-{level}/>
SetHandler psgi
PSGIApp {site}/app.psgi
SetOutputFilter {filter}
{directive} {level}
</Location>
"""
PLAIN = """<Location /plain/>
SetHandler psgi
PSGIApp {site}/app.psgi
</Location>
"""
APP = "my $page = do {{ local (@ARGV, $/) = '{page}'; <> }}; sub {{ [200, ['Content-Type', 'text/html'], [$page]] }}"


def start(site, page, up_to):
    (site / "app.psgi").write_text(APP.format(page=page))
    places = [PLAIN.format(site=site)]
    for coding, (filter, directive, levels) in CODINGS.items():
        places += [PLACE.format(coding=coding, level=level, site=site, filter=filter, directive=directive)
                   for level in levels if level <= up_to]
    conf = site / "site.conf"
    conf.write_text(CONF.format(folder=site, port=PORT, site=site, threads=1) + "".join(places))
    out = site / "out"
    server = subprocess.Popen([BINARY, "serve", "-f", conf], stdout=out.open("w"), stderr=subprocess.STDOUT)
    await_url(server, out)
    return server


def length(path, coding):
    connection = http.client.HTTPConnection("127.0.0.1", PORT)
    connection.request("GET", path, headers={"Accept-Encoding": coding})
    answer = connection.getresponse()
    assert (answer.status, answer.getheader("Content-Encoding", "identity")) == (200, coding), (path, answer.status)
    return len(answer.read())


def cpu_microseconds(front, path, coding, seconds):
    before = sum(spent(front).values())
    done = requests_of(["-c16", f"-d{seconds}s", "-H", f"Accept-Encoding: {coding}", f"http://127.0.0.1:{PORT}{path}"])
    return (sum(spent(front).values()) - before) / done * 1e6


def measure(front, given):
    places = [("/plain/", "identity", "plain")]
    places += [(f"/{coding}-{level}/", coding, f"{coding} {level}")
               for coding, (_, _, levels) in CODINGS.items() for level in levels if level <= given.up_to]
    rounds = [[cpu_microseconds(front, path, coding, given.seconds) for path, coding, _ in places] for _ in range(given.rounds)]
    plain, *times = map(median, zip(*rounds))
    print(f"| | bytes | CPU, us |\n|---|---:|---:|\n| plain | {length('/plain/', 'identity')} | {plain:.0f} in all |")
    for (path, coding, name), time in zip(places[1:], times):
        print(f"| {name} | {length(path, coding)} | {time - plain:.0f} |")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("page", type=Path)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--seconds", type=int, default=1)
    options.add_argument("--up-to", type=int, default=9, help="highest level (at most 19)")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder)
        site.chmod(0o755)
        page = site / "page.html"
        page.write_bytes(given.page.read_bytes())
        server = start(site, page, given.up_to)
        try:
            measure(front_of(server), given)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
