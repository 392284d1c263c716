"""Runs ab as the documents did: one load, and the columns of their tables."""

import re
import subprocess
from dataclasses import dataclass

from server import Failed


@dataclass(frozen=True)
class Load:
    requests: int = 5000
    concurrency: int = 50


@dataclass(frozen=True)
class Result:
    avtime: float  # milliseconds, at the client
    completed: int
    failed: int
    rps: float
    cpu_us: float  # of the server process, per request


def measure(server, path, load, session=False):
    cookie = ["-C", cookie_of(server, path)] if session else []
    before = server.cpu_seconds()
    argv = ["ab", "-q", "-l", "-n", str(load.requests), "-c", str(load.concurrency), *cookie, server.url(path)]
    run = subprocess.run(argv, capture_output=True, text=True, timeout=300)
    if run.returncode != 0:
        raise Failed(f"ab: {run.stderr.strip().splitlines()[-1:]}")
    completed = int(figure(run.stdout, r"Complete requests: +(\d+)"))
    bad = re.search(r"Non-2xx responses: +(\d+)", run.stdout)
    return Result(
        avtime=figure(run.stdout, r"Time per request: +([\d.]+) \[ms\] \(mean\)"),
        completed=completed,
        failed=int(figure(run.stdout, r"Failed requests: +(\d+)")) + (int(bad[1]) if bad else 0),
        rps=figure(run.stdout, r"Requests per second: +([\d.]+)"),
        cpu_us=(server.cpu_seconds() - before) * 1e6 / max(completed, 1),
    )


def cookie_of(server, path):
    answer = server.get(path)
    cookies = [value for name, value in answer[1] if name.lower() == "set-cookie"] if answer else []
    if not cookies:
        raise Failed("no session cookie")
    return cookies[0].partition(";")[0]


def figure(text, pattern):
    found = re.search(pattern, text)
    if not found:
        raise Failed(f"ab's report has no {pattern!r}")
    return float(found[1])
