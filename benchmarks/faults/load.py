"""Clients that count results: each request has a connection of its own, each failure a reason."""

import socket
import threading
import time
from collections import Counter
from dataclasses import dataclass

PATIENCE = 10  # seconds that a client waits


@dataclass(frozen=True)
class Answer:
    reason: str  # "200", or the failure
    seconds: float
    body: bytes = b""

    @property
    def ok(self):
        return self.reason == "200"


def get(port, path, patience=PATIENCE):
    """Sends a GET and reads the response to its end; a short response counts as cut off."""
    started = time.monotonic()
    try:
        with connect(port, patience) as connection:
            connection.sendall(request(path))
            head, body = receive(connection)
        reason = verdict(head, body)
    except socket.timeout:
        reason, body = "no answer", b""
    except ConnectionRefusedError:
        reason, body = "refused", b""
    except OSError:
        reason, body = "reset", b""
    return Answer(reason, time.monotonic() - started, body)


def connect(port, patience=PATIENCE):
    return socket.create_connection(("127.0.0.1", port), timeout=patience)


def request(path, more=""):
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{more}\r\n".encode()


def receive(connection):
    data = bytearray()
    while piece := connection.recv(1 << 20):
        data += piece
    head, _, body = bytes(data).partition(b"\r\n\r\n")
    return head, body


def verdict(head, body):
    if not head.startswith(b"HTTP/1.1 "):
        return "closed without an answer"
    for line in head.lower().split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name == b"content-length" and len(body) != int(value):
            return "cut off"
        if name == b"transfer-encoding" and not body.endswith(b"0\r\n\r\n"):
            return "cut off"
    return head[9:12].decode()


class Load:
    """Runs `clients` that request /hello repeatedly while the block runs."""

    def __init__(self, port, clients=6, path="/hello", pause=0.004, patience=PATIENCE):
        self.port, self.path, self.pause, self.patience = port, path, pause, patience
        self.answers = []
        self.done = threading.Event()
        self.threads = [threading.Thread(target=self.ask, daemon=True) for _ in range(clients)]

    def ask(self):
        while not self.done.is_set():
            self.answers.append(get(self.port, self.path, self.patience))
            self.done.wait(self.pause)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        for thread in self.threads:
            thread.join()

    def lost(self):
        return sum(not answer.ok for answer in self.answers)

    def p99_ms(self):
        times = sorted(answer.seconds for answer in self.answers)
        return times[int(len(times) * 0.99)] * 1000 if times else float("nan")

    def told(self):
        reasons = Counter(answer.reason for answer in self.answers if not answer.ok)
        words = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common(2))
        return f"{self.lost()} of {len(self.answers)} lost" + (f" ({words})" if words else "")
