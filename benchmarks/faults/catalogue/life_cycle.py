"""Reloads, stops, and the death of the master."""

import time
from threading import Thread

from load import Load, get
from servers import WORKERS, alive, came, wait_for_workers

from .registry import fault


@fault("reloads", "5 reloads under load, with a 4 s request", "0 lost, the request survives")
def reloads(server):
    slow = []
    with Load(server.port) as load:
        thread = Thread(target=lambda: slow.append(get(server.port, "/slow?4", 15)))
        thread.start()
        time.sleep(0.3)
        for _ in range(5):
            server.reload()
            time.sleep(1.5)
        thread.join()
    return f"{load.told()}; 4 s request: {slow[0].reason}"


@fault("reload_storm", "40 reload signals in 1.2 s, under load", "0 lost, one generation left")
def reload_storm(server):
    with Load(server.port) as load:
        for _ in range(40):
            server.signal_reload()
            time.sleep(0.03)
        time.sleep(4)
    settled = came(lambda: len(server.workers()) == WORKERS, 10)
    return f"{load.told()}; {len(server.workers())} workers {'' if settled else 'still '}left"


@fault("broken_code", "a reload with Perl that does not compile", "the old code serves on, 0 lost, the reason is told")
def broken_code(server):
    server.break_code()
    return reload_under_load(server)


@fault("broken_conf", "a reload with a directive that does not exist", "the old configuration serves on, 0 lost, the reason is told")
def broken_conf(server):
    server.break_conf()
    return reload_under_load(server)


def reload_under_load(server):
    with Load(server.port, patience=3) as load:
        time.sleep(0.3)
        status = server.reload()
        time.sleep(3)
    told = "" if status is None else f"; reload exits with {status}"
    return load.told() + told


@fault("stop", "TERM under load, with a 2 s request", "it finishes, all gone in < 15 s")
def stop(server):
    answers, members = [], server.processes()
    thread = Thread(target=lambda: answers.append(get(server.port, "/slow?2", 15)))
    thread.start()
    time.sleep(0.5)
    began = time.monotonic()
    for child in server.children:
        child.terminate()
    gone = came(lambda: not alive(members) or all(child.poll() is not None for child in server.children), 20)
    took = time.monotonic() - began
    thread.join()
    left = len(alive(members))
    return f"2 s request: {answers[0].reason}; gone after {took:.1f} s, {left} processes left" if gone else "runs on after 20 s"


@fault("stop_under_load", "10 graceful stops under load by 60 connections", "0 lost of those that were let in")
def stop_under_load(server):
    load, runs_on = Load(server.port), 0
    for turn in range(10):
        if turn:
            server.start_again()
        with Load(server.port, clients=60, pause=0.002) as clients:
            time.sleep(1)
            server.stop_gracefully()
            runs_on += not came(lambda: all(child.poll() is not None for child in server.children), 20)
        load.answers += [answer for answer in clients.answers if answer.reason != "refused"]
    return load.told() + (f"; {runs_on} times not gone after 20 s" if runs_on else "")


@fault("master_killed", "kill -9 of the master", "workers gone in < 8 s, a new start works")
def master_killed(server):
    members = server.processes()
    server.child.kill()
    server.child.wait()
    began = time.monotonic()
    gone = came(lambda: len(alive(members)) <= len(server.children) - 1, 10)
    took = time.monotonic() - began
    if not gone:
        return f"{len(alive(members))} processes live on after 10 s"
    server.children.clear()
    server.start()
    again = server.comes_back(10) and wait_for_workers(server, 10)
    return f"gone after {took:.1f} s; a new start {'works' if again else 'fails'}"
