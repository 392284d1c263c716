#!/usr/bin/env python3
"""Where the next wall is on machines that we do not have: fronts, workers and what all of them do one after another.

    python3 benchmarks/cores.py [--lock MICROSECONDS] [--miss MICROSECONDS] [--cores 2,16,64]

Each request takes its thread of the front some work of its own and three turns at the lock of the pool; a turn costs more when the
last one was another core's, whose cache has the state. Workers have as many cores as they need for what the front threads ask
of them. New connections pass through the one thread that accepts. The figures below are measured on two cores (docs/decisions/0009-front-threads.md).
"""

import argparse
import heapq
import random

# Microseconds of CPU for a PSGI hello.
FRONT = 8.6  # of a thread of the front, the lock's turns among it
WORKER = 6.2  # of a worker
LOCK = 0.4  # of the front's, what is done under the lock
TURNS = 3  # at the lock: submit, heard of, ended
MISS = 0.1  # a turn after another core's is dearer by that: each of some lines of cache comes from there
ACCEPT = 3.3  # of the thread that accepts, for a connection that it hands over
CONNECTION = 13.5  # of the front for a connection, beside its request
LINES = 6  # of cache that a turn touches
REQUESTS = 60_000


def simulate(threads, args):
    """Requests a second of so many threads, what the lock is busy and what is lost waiting for it."""
    chance = random.Random(1)
    own = FRONT - args.lock
    turn, dearer = args.lock / TURNS, args.miss * LINES
    # When each thread is next at the lock, and how many turns its request still has.
    arrivals = [(chance.expovariate(TURNS / own), thread, TURNS) for thread in range(threads)]
    heapq.heapify(arrivals)
    free_at = busy = waited = now = 0.0
    last, done = None, 0
    while done < REQUESTS:
        now, thread, turns = heapq.heappop(arrivals)
        begun = max(now, free_at)
        held = turn + (dearer if last not in (None, thread) else 0)
        waited, busy, free_at, last = waited + begun - now, busy + held, begun + held, thread
        if turns == 1:
            done, turns = done + 1, TURNS + 1
        heapq.heappush(arrivals, (free_at + chance.expovariate(TURNS / own), thread, turns - 1))
    return done / now * 1e6, busy / now, waited / done


def share(cores):
    """How many of the cores are for threads of the front when workers have what they need of the rest."""
    return max(1, round(cores * FRONT / (FRONT + WORKER)))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--lock", type=float, default=LOCK)
    options.add_argument("--miss", type=float, default=MISS)
    options.add_argument("--cores", type=lambda text: [int(word) for word in text.split(",")], default=[2, 4, 8, 16, 32, 64])
    args = options.parse_args()
    print(f"{'cores':>5} {'front threads':>13} {'requests/s':>11} {'of cores x one':>14} {'lock busy':>9} {'waits, us':>9}"
          f" {'connections/s':>13} {'acceptor busy':>13}")
    one, _, _ = simulate(1, args)
    for cores in args.cores:
        threads = share(cores)
        rate, busy, waited = simulate(threads, args)
        each = FRONT + CONNECTION
        connections = min(threads / each, 1 / ACCEPT) * 1e6
        print(f"{cores:5} {threads:13} {rate:11,.0f} {rate / one / threads:14.2f} {busy:9.0%} {waited:9.2f}"
              f" {connections:13,.0f} {connections * ACCEPT / 1e6:13.0%}")


if __name__ == "__main__":
    main()
