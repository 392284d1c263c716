"""A client of soak.py: sends requests and compares every response with the expected one."""

import random
import socket
from collections import Counter
from dataclasses import dataclass, field

from soak_site import KINDS

NAMES = list(KINDS)
WEIGHTS = [KINDS[name][0] for name in NAMES]
YOUNG = 200  # requests until an interpreter has filled its caches


class Closed(Exception):
    """The server closed a persistent connection before it answered, which is allowed: the client repeats the request."""


@dataclass
class Tally:
    requests: int = 0
    lost: int = 0
    reopened: int = 0
    kinds: Counter = field(default_factory=Counter)
    failures: list = field(default_factory=list)
    interpreters: dict = field(default_factory=dict)  # pid: its readings, (requests, values, arenas)

    def __iadd__(self, other):
        self.requests += other.requests
        self.lost += other.lost
        self.reopened += other.reopened
        self.kinds += other.kinds
        self.failures += other.failures
        for pid, readings in other.interpreters.items():
            self.interpreters[pid] = sorted(self.interpreters.get(pid, []) + readings)
        return self

    def settled(self):
        """The first and last reading of each interpreter with at least two readings after its first YOUNG requests."""
        grown_up = [[reading for reading in readings if reading[0] >= YOUNG] for readings in self.interpreters.values()]
        return [(readings[0], readings[-1]) for readings in grown_up if len(readings) > 1]

    def growth(self, what):
        """The largest growth of an interpreter, as a share; None if there are too few readings."""
        at = {"values": 1, "arenas": 2}[what]
        return max((last[at] / first[at] - 1 for first, last in self.settled()), default=None)


class Client:
    def __init__(self, port, number):
        self.port, self.random, self.socket, self.tally = port, random.Random(number), None, Tally()

    def step(self):
        kind = self.random.choices(NAMES, WEIGHTS)[0]
        self.tally.requests += 1
        self.tally.kinds[kind] += 1
        try:
            wrong = self.ask(kind)
        except OSError as error:
            self.close()
            wrong = repr(error)
        if wrong:
            self.tally.lost += 1
            self.tally.failures.append(f"{kind}: {wrong}")

    def ask(self, kind):
        """The error in the response, if any."""
        _, method, target, body, status, expected = KINDS[kind]
        head = f"{method} {target} HTTP/1.1\r\nHost: localhost\r\n"
        if body is not None:
            head += f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n"
        got = self.exchange(head.encode() + b"\r\n" + (body or b""))
        if kind == "interpreter" and got[0] == 200:
            pid, *reading = map(int, got[1].split())
            self.tally.interpreters.setdefault(pid, []).append(tuple(reading))
        if got[0] != status or (expected is not None and got[1] != expected):
            return f"expected {status} {(expected or b'')[:40]!r}, got {got[0]} {got[1][:80]!r}"
        return None

    def exchange(self, request):
        if self.socket is not None:
            try:
                return self.send(request)
            except Closed:
                self.tally.reopened += 1
        self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            return self.send(request)
        except Closed as closed:
            raise OSError("a fresh connection was closed without an answer") from closed

    def send(self, request):
        try:
            self.socket.sendall(request)
            received = self.socket.recv(65536)
        except (BrokenPipeError, ConnectionResetError):
            received = b""
        if not received:
            self.close()
            raise Closed
        return self.answer(received)

    def answer(self, received):
        while b"\r\n\r\n" not in received:
            received += self.more()
        head, _, rest = received.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines)
        if "transfer-encoding" in headers:
            body = self.chunks(rest)
        else:
            while len(rest) < int(headers["content-length"]):
                rest += self.more()
            body = rest
        if headers.get("connection") == "close":
            self.close()
        return int(first.split()[1]), body

    def chunks(self, rest):
        body = b""
        while True:
            while b"\r\n" not in rest:
                rest += self.more()
            size, _, rest = rest.partition(b"\r\n")
            length = int(size, 16)
            while len(rest) < length + 2:
                rest += self.more()
            body, rest = body + rest[:length], rest[length + 2:]
            if length == 0:
                return body

    def more(self):
        piece = self.socket.recv(65536)
        if not piece:
            raise OSError("the answer was cut")
        return piece

    def close(self):
        if self.socket is not None:
            self.socket.close()
            self.socket = None
