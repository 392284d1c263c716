#!/usr/bin/env python3
"""Simulates the serial parts of the server, to find its limits on machines with many cores.

    python3 benchmarks/cores.py                     # a PSGI hello
    python3 benchmarks/cores.py --perl 1000         # 1 ms of Perl for each request
    python3 benchmarks/cores.py --far 0.5           # slower communication between cores

Cores are divided between the front's threads and the workers as requests need them. A request costs its thread some parallel work, and three
turns at the pool's lock; a turn costs more when another core had the last one, whose cache has the state. All new connections pass through
the accepting thread. Sleeping and waking at the lock are not simulated: beyond the limit, reality is worse. For the source of the figures
see docs/decisions/0009-front-threads.md.
"""

import argparse
import heapq
import math
import random

# CPU times in microseconds.
FRONT = 10.6  # front thread per request, including its turns at the lock
WORKER = 7.0  # worker per request, without Perl
LOCK = 0.4  # held per request, for all its turns
TURNS = 3  # submit, begin, end
FAR = 0.2  # additional cost of a turn after a turn of another core
CONNECTION = 12  # front per connection, without its request
ACCEPT = 2.5  # part of the accepting thread for a connection that it hands over
REQUESTS = 60_000


def simulate(threads, given):
    """Requests/s if the lock is the only limit, and the share of time that the lock is held."""
    chance = random.Random(1)
    between = (FRONT - given.lock) / TURNS
    # When each thread arrives at the lock next, and the number of lock uses that its request still needs.
    arrivals = [(chance.expovariate(1 / between), thread, TURNS) for thread in range(threads)]
    heapq.heapify(arrivals)
    free_at = held = now = done = 0
    last = None
    while done < REQUESTS:
        now, thread, turns = heapq.heappop(arrivals)
        turn = given.lock / TURNS + (given.far if last not in (None, thread) else 0)
        free_at, held, last = max(now, free_at) + turn, held + turn, thread
        done += turns == 1
        heapq.heappush(arrivals, (free_at + chance.expovariate(1 / between), thread, turns - 1 or TURNS))
    return done / now * 1e6, held / now


def row(cores, given):
    worker = WORKER + given.perl
    threads = math.ceil(cores * FRONT / (FRONT + worker))
    possible, held = simulate(threads, given)
    # On few cores a thread shares its core with workers.
    requests = min(possible, cores / (FRONT + worker) * 1e6)
    connections = min(cores / (FRONT + CONNECTION + worker), 1 / ACCEPT) * 1e6
    return threads, requests, held * requests / possible, connections, connections * ACCEPT / 1e6


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--perl", type=float, default=0, help="microseconds of Perl for each request")
    options.add_argument("--lock", type=float, default=LOCK, help="microseconds under the lock for each request")
    options.add_argument("--far", type=float, default=FAR, help="added microseconds of a turn after another core's")
    options.add_argument("--cores", default="2,4,8,16,32,64")
    given = options.parse_args()
    print("cores  front threads  requests/s  of the ideal  lock held  connections/s  acceptor busy")
    for cores in map(int, given.cores.split(",")):
        threads, requests, held, connections, busy = row(cores, given)
        ideal = cores / (FRONT + WORKER + given.perl) * 1e6
        print(f"{cores:5}{threads:15}{requests:12,.0f}{requests / ideal:14.0%}{held:11.0%}{connections:15,.0f}{busy:15.0%}")


if __name__ == "__main__":
    main()
