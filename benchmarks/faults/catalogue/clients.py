"""Clients that are slow, many, or gone."""

import socket
import time
from contextlib import ExitStack

from load import Load, connect, get, receive, request
from servers import came

from .registry import fault


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
    """Opens connections that begin a request and then stop; does not wait for a full server."""
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
    patience = time.monotonic() + 20  # seconds for all connections together
    for client in clients:
        client.settimeout(max(0.01, patience - time.monotonic()))
        try:
            served += receive(client)[0].startswith(b"HTTP/1.1 200")
        except OSError:
            pass
        client.close()
    return f"{served} of 1500 served"


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
