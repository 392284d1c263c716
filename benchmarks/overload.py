#!/usr/bin/env python3
"""Offers 1.5 times the workers' capacity; measures response times of admitted requests, and of refusals.

Arrivals are an open loop: a Poisson process, independent of earlier responses. A time counts from when the request was due, so that
a slow load generator does not improve the result.
"""

import argparse
import os
import random
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
CONFIGURATION = """
ServerRoot {root}
Listen 127.0.0.1:{port}
ControlSocket {root}/control.sock
PidFile {root}/pid
KeepAliveTimeout 5m
StartServers {workers}
MinSpareServers {workers}
MaxSpareServers {workers}
MaxClients {workers}
<Location />
PsgiApp {root}/app.psgi
</Location>
"""
APPLICATION = "sub {{ select undef, undef, undef, {seconds}; [200, ['Content-Type', 'text/plain'], ['ok']] }}"


def main():
    args = arguments()
    with tempfile.TemporaryDirectory() as folder:
        server, port = start(args, Path(folder))
        try:
            sys.exit(0 if measure(args, port) else 1)
        finally:
            server.terminate()
            server.wait()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--handler-ms", type=float, default=10)
    parser.add_argument("--load", type=float, default=150, help="per cent of the measured capacity")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--settle", type=float, default=5, help="seconds at the beginning that are not counted")
    parser.add_argument("--cameleer", default=os.environ.get("CAMELEER", ROOT / "target/release/cameleer"))
    return parser.parse_args()


def start(args, folder):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (folder / "app.psgi").write_text(APPLICATION.format(seconds=args.handler_ms / 1000))
    conf = folder / "site.conf"
    conf.write_text(CONFIGURATION.format(root=folder, port=port, workers=args.workers))
    server = subprocess.Popen([args.cameleer, "serve", "-f", conf], stdout=subprocess.DEVNULL, stderr=sys.stderr)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return server, port
        except ConnectionRefusedError:
            time.sleep(0.05)
    server.kill()
    sys.exit("the server does not listen")


def measure(args, port):
    clients = Clients(port)
    clients.closed(1, 0.5)
    unloaded = times(clients.closed(1, 3), 200)
    capacity = len(clients.closed(args.workers * 2, 3)) / 3
    rate = capacity * args.load / 100
    answers = [a for a in clients.open(rate, args.seconds + args.settle) if a[0] >= args.settle]
    admitted, refused = times(answers, 200), times(answers, 503)
    others = len(answers) - len(admitted) - len(refused)
    bound = 2 * percentile(unloaded, 99)
    print(f"unloaded   p50 {percentile(unloaded, 50):.1f} ms  p99 {percentile(unloaded, 99):.1f} ms")
    print(f"capacity   {capacity:.0f}/s with {args.workers} workers; offered {rate:.0f}/s for {args.seconds:.0f} s")
    print(f"admitted   {len(admitted) / args.seconds:.0f}/s  p50 {percentile(admitted, 50):.1f} ms  "
          f"p99 {percentile(admitted, 99):.1f} ms, allowed {bound:.1f} ms")
    print(f"refused    {len(refused) / args.seconds:.0f}/s  p50 {percentile(refused, 50):.1f} ms  "
          f"p99 {percentile(refused, 99):.1f} ms  others {others}  never answered {clients.unanswered}")
    return percentile(admitted, 99) <= bound and others == 0 and clients.unanswered == 0


def times(answers, status):
    """Times in milliseconds, sorted."""
    return sorted(took * 1000 for _, took, said in answers if said == status)


def percentile(values, percent):
    return values[min(len(values) - 1, len(values) * percent // 100)] if values else float("nan")


class Clients:
    """Persistent connections, as many as are needed at one time."""

    def __init__(self, port):
        self.port, self.idle, self.answers = port, [], []
        self.selector = selectors.EpollSelector()
        self.busy, self.unanswered = 0, 0

    def closed(self, count, seconds):
        """Each client sends the next request after each response. Returns a list of (time, duration, status)."""
        self.begin()
        while self.now() < seconds or self.busy:
            while self.busy < count and self.now() < seconds:
                self.ask(self.now())
            self.read(0.1)
        return self.answers

    def open(self, rate, seconds):
        """Sends requests at their due times."""
        self.begin()
        chance = random.Random(1)
        due = chance.expovariate(rate)
        while due < seconds:
            while due <= self.now():
                self.ask(due)
                due += chance.expovariate(rate)
            self.read(max(0, due - self.now()))
        patience = self.now() + 10
        while self.busy and self.now() < patience:
            self.read(0.1)
        self.unanswered = self.busy
        return self.answers

    def begin(self):
        self.started, self.answers = time.monotonic(), []

    def now(self):
        return time.monotonic() - self.started

    def ask(self, due):
        connection = self.idle.pop() if self.idle else self.connect()
        self.selector.modify(connection, selectors.EVENT_READ, due)
        connection.send(REQUEST)
        self.busy += 1

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.selector.register(connection, selectors.EVENT_READ)
        return connection

    def read(self, timeout):
        for key, _ in self.selector.select(timeout):
            connection, due = key.fileobj, key.data
            answer = connection.recv(65536)
            if due is not None:
                self.busy -= 1
                self.answers.append((due, self.now() - due, int(answer[9:12] or 0)))
            if due is None:
                self.idle.remove(connection)
            if not answer or b"\nconnection: close" in answer.lower():
                self.selector.unregister(connection)
                connection.close()
                continue
            # A small response is one TCP segment.
            self.selector.modify(connection, selectors.EVENT_READ, None)
            self.idle.append(connection)


if __name__ == "__main__":
    main()
