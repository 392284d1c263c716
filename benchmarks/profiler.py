#!/usr/bin/env python3
"""Measures the cost of profiling.

    python3 benchmarks/profiler.py [--rounds 9] [--hertz 100]      about 2 minutes

A program that runs a millisecond (a hundred calls of subs, thirty deep, that add and match), with 4 workers at full load, alternating between
no profiler and `cameleer profile` on all workers. Measures the workers' CPU time per request, the request rate, and the profiler's CPU time.
Then the alternative in plain perl: the effect of a timer signal of the same frequency on a `sleep`.
"""

import argparse
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

from budget import Server, children, descendants, threads_spent
from threads import BINARY

PORT = 18990
APP = """sub deep { my $n = shift; return $n ? deep($n - 1) + 1 : scalar(() = 'the quick brown fox' =~ /(o\\w?)/g) }
sub { my $sum = 0; $sum += deep(30) for 1 .. 100; [ 200, [ 'Content-Type', 'text/plain' ], [ $sum ] ] }"""
SLEEP = """use Time::HiRes qw(setitimer ITIMER_REAL time); $SIG{ALRM} = sub { }; setitimer(ITIMER_REAL, %s, %s);
my $began = time; sleep 2; printf '%%.3f', time - $began"""


def measured(server, seconds, hertz):
    """Workers' microseconds per request, requests per second, and the profiler's share of a processor."""
    profiler = [pid for pid in children(server.process.pid) if named(pid) == "cameleer-prof"]
    workers = [pid for pid in descendants(server.process.pid) if named(pid) not in ("cameleer-prof", "cameleer-front", "cameleer-sample")]
    spent = lambda pids: sum(map(threads_spent, pids))
    before, profiled, began = spent(workers), spent(profiler), time.monotonic()
    looking = hertz and subprocess.Popen([BINARY, "profile", "--socket", server.folder / "control.sock", "--seconds", str(seconds + 0.5), "--hertz", str(hertz)],
                                         stdout=subprocess.DEVNULL)
    done = server.load(seconds, 4)
    took = time.monotonic() - began
    used, looked = spent(workers) - before, spent(profiler) - profiled
    if looking:
        looking.wait()
    return used / done * 1e6, done / took, looked / took


def named(pid):
    return Path(f"/proc/{pid}/comm").read_text().strip()


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=9)
    options.add_argument("--hertz", type=float, default=100)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as path:
        Path(path).chmod(0o755)
        server = Server(Path(path) / "site", APP, "SlowLog 60s\n", PORT)
        try:
            time.sleep(2)
            rounds = [(measured(server, 3, 0), measured(server, 3, given.hertz)) for _ in range(given.rounds)]
        finally:
            server.stop()
    for name, at in (("nobody looks", 0), (f"{given.hertz:g} samples a second", 1)):
        cpu, rate, _ = (median(each[at][i] for each in rounds) for i in range(3))
        print(f"{name}: {cpu:.1f} us of workers a request, {rate:.0f} requests/s")
    print(f"ratio of each round, median: workers' time {median(b[0] / a[0] for a, b in rounds):.4f}, rate {median(b[1] / a[1] for a, b in rounds):.4f}")
    print(f"the profiler has {median(b[2] for _, b in rounds):.2%} of a processor for 4 busy workers")
    period = 1 / given.hertz
    slept = subprocess.run(["perl", "-e", SLEEP % (period, period)], capture_output=True, text=True, check=True).stdout
    print(f"with a timer's signal as often, a sleep of 2 s lasts {slept} s")


if __name__ == "__main__":
    main()
