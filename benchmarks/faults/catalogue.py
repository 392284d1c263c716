"""The faults: each does harm to a running server and says in a few words what became of its clients."""

import os
import signal
import socket
import time
from contextlib import ExitStack
from dataclasses import dataclass
from threading import Thread
from typing import Callable

from load import Load, connect, get, receive, request
from servers import WORKERS, alive, came, wait_for_workers


@dataclass(frozen=True)
class Fault:
    name: str
    title: str
    wanted: str
    happen: Callable  # server -> str


def fault(name, title, wanted):
    def keep(happen):
        CATALOGUE.append(Fault(name, title, wanted, happen))
        return happen
    return keep


CATALOGUE = []


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


@fault("slow_clients", "1,000 slow heads, 200 slow bodies, 100 slow readers, 500 idle", "others 100 % served, p99 < 100 ms")
def slow_clients(server):
    with ExitStack() as held:
        for count, first in ((1000, b"GET /hello HTTP/1.1\r\nX-Slow: "), (500, b""),
                             (200, b"POST /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nabc"),
                             (100, request("/big?4"))):
            hold(held, server.port, count, first)
        with Load(server.port, clients=4, patience=3) as others:
            time.sleep(6)
    return f"{others.told()}, p99 {others.p99_ms():.0f} ms"


def hold(held, port, count, first):
    """Connections that are opened, begin to ask, and then keep still; a server that is full does not hold us up."""
    clients = [held.enter_context(opened(port)) for _ in range(count)]
    time.sleep(0.5)
    for client in clients:
        try:
            client.send(first)
        except OSError:
            pass


def opened(port):
    client = socket.socket()
    client.setblocking(False)
    client.connect_ex(("127.0.0.1", port))
    return client


@fault("burst", "1,500 connections at once", "all served")
def burst(server):
    clients, served = [opened(server.port) for _ in range(1500)], 0
    for client in clients:
        client.settimeout(15)
        try:
            client.sendall(request("/hello"))
        except OSError:
            continue
    for client in clients:
        try:
            served += receive(client)[0].startswith(b"HTTP/1.1 200")
        except OSError:
            pass
        client.close()
    return f"{served} of 1500 served"


@fault("large_response", "a 1 GB response that nobody reads", "memory + < 200 MB, others served")
def large_response(server):
    before = server.memory_mb()
    with connect(server.port) as client:
        client.sendall(request("/big?1024"))
        client.recv(1000)
        with Load(server.port, clients=2, patience=3) as others:
            time.sleep(4)
        grown = server.memory_mb() - before
    return f"+{grown:.0f} MB; others: {others.told()}"


@fault("large_upload", "a 1 GB upload that the script does not read", "memory + < 200 MB")
def large_upload(server):
    before, grown, piece = server.memory_mb(), 0, b"x" * (1 << 20)
    with connect(server.port, 20) as client:
        client.sendall(b"POST /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1073741824\r\n\r\n")
        try:
            for number in range(1024):
                client.sendall(piece)
                if number % 100 == 0:
                    grown = max(grown, server.memory_mb() - before)
            said = receive(client)[0][9:12].decode() or "closed"
        except OSError as error:
            said = type(error).__name__
    return f"+{grown:.0f} MB; {said}"


@fault("vanishing", "300 clients leave in mid-request, 100 in mid-response", "no descriptor, no CPU left behind")
def vanishing(server):
    came(lambda: get(server.port, "/hello").ok, 5)
    before = server.descriptors()
    for _ in range(300):
        with connect(server.port) as client:
            client.sendall(b"POST /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc")
    for _ in range(100):
        with connect(server.port) as client:
            client.sendall(request("/big?4"))
            client.recv(1000)
    came(lambda: server.descriptors() <= before, 10)
    left = server.descriptors() - before
    cpu = server.cpu_seconds()
    time.sleep(2)
    return f"{left:+d} descriptors, {server.cpu_seconds() - cpu:.2f} s CPU in the 2 s after"


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


def alive_pid(pid):
    try:
        os.kill(pid, 0)
        return True
    except ProcessLookupError:
        return False
