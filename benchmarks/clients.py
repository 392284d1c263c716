#!/usr/bin/env python3
"""Clients that wrk cannot simulate: busy ones that are counted individually, and slow ones.

As a program: clients.py HOST PORT COUNT runs COUNT slow clients until the end of its standard input.
"""

import re
import selectors
import socket
import sys
import time

REQUEST = b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n"
SLOW_START = b"GET /hello HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
SLOW_TICKS = 10  # a tenth of the clients every 10 ms: no bursts
SLOW_TICK_SECONDS = 0.01


def count_per_connection(port, path, connections, seconds):
    """Number of responses on each of N connections that send requests back to back."""
    selector = selectors.EpollSelector()
    busy = [BusyConnection(selector, port, REQUEST % path.encode()) for _ in range(connections)]
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        for key, _ in selector.select(left):
            key.data.read()
    for connection in busy:
        connection.socket.close()
    selector.close()
    return [connection.answered for connection in busy]


class BusyConnection:
    def __init__(self, selector, port, request):
        self.selector, self.port, self.request = selector, port, request
        self.answered = 0
        self.connect()

    def connect(self):
        self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=5)
        self.socket.setblocking(False)
        self.selector.register(self.socket, selectors.EVENT_READ, self)
        self.ask()

    def ask(self):
        self.received = b""
        self.socket.send(self.request)

    def read(self):
        try:
            data = self.socket.recv(65536)
            if data:
                return self.take(data)
        except ConnectionError:
            pass
        self.reconnect()

    def take(self, data):
        self.received += data
        if is_complete(self.received):
            self.answered += 1
            self.ask()

    def reconnect(self):
        self.selector.unregister(self.socket)
        self.socket.close()
        self.connect()


def is_complete(response):
    head, blank_line, body = response.partition(b"\r\n\r\n")
    if not blank_line:
        return False
    length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
    return len(body) >= int(length[1]) if length else body.endswith(b"0\r\n\r\n")


def trickle(host, port, count):
    """Each client sends one byte per 100 ms of an endless request."""
    clients = [SlowClient((host, port)) for _ in range(count)]
    print("connected", flush=True)
    stdin = selectors.DefaultSelector()
    stdin.register(sys.stdin, selectors.EVENT_READ)
    tick = 0
    while not stdin.select(SLOW_TICK_SECONDS):
        for client in clients[tick % SLOW_TICKS::SLOW_TICKS]:
            client.send_byte()
        tick += 1


class SlowClient:
    def __init__(self, address):
        self.address = address
        self.connect()

    def connect(self):
        self.socket = socket.create_connection(self.address, timeout=5)
        self.socket.setblocking(False)
        self.sent = 0

    def send_byte(self):
        byte = SLOW_START[self.sent:self.sent + 1] or b"x"
        try:
            self.socket.send(byte)
            self.sent += 1
        except BlockingIOError:
            pass
        except ConnectionError:  # a server may cut slow clients off: reconnect
            self.socket.close()
            self.connect()


if __name__ == "__main__":
    trickle(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
