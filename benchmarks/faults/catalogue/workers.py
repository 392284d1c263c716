"""Workers, and the processes in front of them, are killed or stopped."""

import os
import signal
import time
from threading import Thread

from load import Load, get
from servers import WORKERS, alive_pid, came

from .registry import fault


@fault("worker_killed", "kill -9 of a worker in mid-request", "502 in < 2 s, no other lost")
def worker_killed(server):
    with Load(server.port) as others:
        time.sleep(0.5)
        victim = get(server.port, "/kill")
        time.sleep(0.5)
    return f"{victim.reason} after {victim.seconds:.2f} s; others: {others.told()}"


@fault("all_killed", "kill -9 of all workers", "service in < 3 s, same master")
def all_killed(server):
    master = server.child.pid
    for pid in server.workers():
        os.kill(pid, signal.SIGKILL)
    began = time.monotonic()
    back = came(lambda: get(server.port, "/hello", 2).ok, 20)
    took = time.monotonic() - began
    return f"{took:.2f} s, {'same' if alive_pid(master) else 'new'} master" if back else "no service after 20 s"


@fault("half_stopped", "SIGSTOP of half the workers for 8 s, under load", "others serve; nothing is handed to the stopped")
def half_stopped(server):
    stopped = server.workers()[: WORKERS // 2]
    with Load(server.port, patience=2) as load:
        time.sleep(0.3)
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(8)
    for pid in filter(alive_pid, stopped):
        os.kill(pid, signal.SIGCONT)
    return load.told()


@fault("half_body", "a worker dies in mid-body", "the client sees that it is cut off")
def half_body(server):
    answer = get(server.port, "/half")
    return f"client sees: {answer.reason}"


@fault("crashes", "150 crashes in a row", "others lose 0")
def crashes(server):
    with Load(server.port) as others:
        for _ in range(150):
            get(server.port, "/kill", 3)
    return f"others: {others.told()}, p99 {others.p99_ms():.0f} ms"


@fault("endless_loop", "as many endless loops as workers", "504 at the limit, workers replaced")
def endless_loop(server):
    loops = [Thread(target=get, args=(server.port, "/loop", 20)) for _ in range(WORKERS)]
    began = time.monotonic()
    for loop in loops:
        loop.start()
    time.sleep(0.5)
    back = came(lambda: get(server.port, "/hello", 2).ok, 18)
    took = time.monotonic() - began
    return f"serves again after {took:.1f} s" if back else "no service after 20 s"


@fault("front_killed", "kill -9 of what takes the clients, under load", "another takes over, nobody is refused, the workers stay")
def front_killed(server):
    workers = server.workers()
    with Load(server.port) as load:
        time.sleep(0.5)
        os.kill(server.front(), signal.SIGKILL)
        time.sleep(1.5)
    stayed = len(set(workers) & set(server.workers()))
    return f"{load.told()}; {stayed} of {len(workers)} workers stayed"
