#!/usr/bin/env python3
"""Measures the cost of an echo, and the memory of idle WebSockets, for Cameleer, Mojolicious' prefork server and PAGI-Server.

    benchmarks/sockets.py [--sockets 1000] [--seconds 5] [--rounds 3] [--idle 10000] [--only cameleer-pagi,mojo]

Each server runs an echo program with 4 workers: `cameleer-pagi` and `pagi` the same PAGI program, `cameleer-mojo` and `mojo` the same
Mojolicious program. Every socket has one message of 64 bytes under way. The servers alternate; results are medians of the rounds. Then
each server gets `--idle` sockets, which exchange one message: the proportional memory of its processes, without and with them.

`pagi` needs a checkout of PAGI-Server in $PAGI_SERVER; without it the server has no row.
"""
import argparse
import os
import pathlib
import resource
import select
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time

import proc
from peers import cameleer_binary
from server import free_port

WORKERS = 4
HANDSHAKE = (b"GET /echo HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
             b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
# A client's frame has a mask; that of zeros leaves the text as it is.
TEXT = b"x" * 64
FRAME = bytes([0x81, 0x80 | len(TEXT)]) + bytes(4) + TEXT
ECHO = bytes([0x81, len(TEXT)]) + TEXT

MOJO = """use Mojolicious::Lite;
app->log->level('error');
websocket '/echo' => sub { my $c = shift; $c->inactivity_timeout(0); $c->on(message => sub { $_[0]->send($_[1]) }) };
app->start;
"""
PAGI = """use strict; use warnings; use Future::AsyncAwait;
async sub app {
    my ($scope, $receive, $send) = @_;
    die "Unsupported: $scope->{type}" if $scope->{type} ne 'websocket';
    my $event = await $receive->();
    await $send->({ type => 'websocket.accept' });
    while (1) {
        $event = await $receive->();
        last if $event->{type} eq 'websocket.disconnect';
        await $send->({ type => 'websocket.send', text => $event->{text} });
    }
}
\\&app;
"""
SITE = """ServerName localhost
ServerRoot "{dir}"
Listen 127.0.0.1:{port}
PidFile "{dir}/pid"
ErrorLog "{dir}/error.log"
MaxConnections 20000
MaxConnectionsPerClient 0
PsgiMode event
EventConnections 5000
StartServers {workers}
MaxClients {workers}
<Location />
PsgiApp "{dir}/{program}"
</Location>
"""


class Server:
    def __init__(self, name, folder):
        self.name, self.port = name, free_port()
        self.folder = folder / name
        self.folder.mkdir()
        (self.folder / "echo.pl").write_text(MOJO if "mojo" in name else PAGI)
        self.costs = []
        self.output = open(self.folder / "out", "ab")
        self.child = subprocess.Popen(self.command(), cwd=self.folder, stdout=self.output, stderr=self.output, start_new_session=True,
                                      env=os.environ | {"MOJO_MODE": "production"})

    def command(self):
        if self.name.startswith("cameleer"):
            conf = self.folder / "site.conf"
            conf.write_text(SITE.format(dir=self.folder, port=self.port, workers=WORKERS, program="echo.pl"))
            return [cameleer_binary(), "serve", "-f", str(conf)]
        if self.name == "mojo":
            # Neither a number of connections nor a time without one ends a worker.
            return ["perl", "echo.pl", "prefork", "-w", str(WORKERS), "-c", "5000", "-i", "0", "-a", "0", "-l", f"http://127.0.0.1:{self.port}"]
        home = os.environ["PAGI_SERVER"]
        return ["perl", f"-I{home}/lib", f"{home}/bin/pagi-server", "--workers", str(WORKERS), "--host", "127.0.0.1",
                "--port", str(self.port), "--no-access-log", "./echo.pl"]

    def wait_until_ready(self):
        """The first handshake that is answered with 101."""
        deadline = time.monotonic() + 60
        while True:
            try:
                Socket(self.port).close()
                return
            except OSError as error:
                said = (self.folder / "out").read_text(errors="replace")[-500:]
                assert self.child.poll() is None and time.monotonic() < deadline, f"{self.name}: {error}: {said}"
                time.sleep(0.05)

    def memory_kb(self):
        sizes = [proc.memory_kb(process.pid) for process in proc.tree(self.child.pid)]
        return sum(size["pss_kb"] for size in sizes if size)

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        try:
            self.child.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self.child.pid, signal.SIGKILL)
            self.child.wait()
        self.output.close()


class Socket:
    """An open WebSocket, whose handshake was answered with 101."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.sendall(HANDSHAKE)
        head = b""
        while b"\r\n\r\n" not in head:
            piece = self.socket.recv(4096)
            if not piece:
                raise ConnectionError("closed in the handshake")
            head += piece
        if not head.startswith(b"HTTP/1.1 101"):
            self.socket.close()
            raise ConnectionError(head.split(b"\r\n")[0].decode(errors="replace"))
        self.got, self.sent = 0, 0.0

    def fileno(self):
        return self.socket.fileno()

    def close(self):
        self.socket.close()


def echo(server, count, seconds):
    """Messages a second, p50 and p99 in ms, CPU microseconds of the server for a message."""
    sockets = [Socket(server.port) for _ in range(count)]
    poll, by_number, times = select.epoll(), {}, []
    for each in sockets:
        each.socket.setblocking(False)
        by_number[each.fileno()] = each
        poll.register(each.fileno(), select.EPOLLIN)
        each.sent = time.perf_counter()
        each.socket.send(FRAME)
    spent, began = proc.cpu_seconds(server.child.pid), time.perf_counter()
    now = began
    while now < began + seconds:
        for number, _ in poll.poll(1):
            each = by_number[number]
            piece = each.socket.recv(len(ECHO))
            if not piece:
                raise ConnectionError(f"{server.name} closed a socket")
            each.got += len(piece)
            if each.got == len(ECHO):
                now = time.perf_counter()
                times.append(now - each.sent)
                each.got, each.sent = 0, now
                each.socket.send(FRAME)
        now = time.perf_counter()
    spent = proc.cpu_seconds(server.child.pid) - spent
    for each in sockets:
        each.close()
    times.sort()
    return (len(times) / (now - began), times[len(times) // 2] * 1000, times[len(times) * 99 // 100] * 1000, spent / len(times) * 1e6)


def idle(server, count):
    """Memory in MB without sockets, and with `count` sockets that have exchanged a message each."""
    before = server.memory_kb()
    sockets = [Socket(server.port) for _ in range(count)]
    for each in sockets:
        each.socket.sendall(FRAME)
        got = 0
        while got < len(ECHO):
            got += len(each.socket.recv(len(ECHO) - got))
    after = server.memory_kb()
    for each in sockets:
        each.close()
    return before / 1024, after / 1024


def print_ratios(servers):
    """Ratios to the better peer, formed round by round."""
    peers = [server for server in servers if not server.name.startswith("cameleer")]
    for server in servers:
        if server in peers or not peers:
            continue
        of = lambda column: statistics.median(
            costs[column] / min(peer.costs[turn][column] for peer in peers) for turn, costs in enumerate(server.costs))
        print(f"{server.name}: CPU of a message {of(3):.2f}, p99 {of(2):.2f} of the better peer")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sockets", type=int, default=1000)
    options.add_argument("--seconds", type=float, default=5)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--idle", type=int, default=10000)
    options.add_argument("--only", default="cameleer-pagi,cameleer-mojo,mojo,pagi")
    said = options.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    names = [name for name in said.only.split(",") if name != "pagi" or "PAGI_SERVER" in os.environ]
    folder = pathlib.Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    servers = []
    try:
        servers = [Server(name, folder) for name in names]
        for server in servers:
            server.wait_until_ready()
        for _ in range(said.rounds):
            for server in servers:
                server.costs.append(echo(server, said.sockets, said.seconds))
        print(f"{'server':14} {'messages/s':>10} {'p50 ms':>8} {'p99 ms':>8} {'CPU us':>8} {'MB':>7} {f'MB with {said.idle}':>14}")
        for server in servers:
            rate, p50, p99, cpu = (statistics.median(column) for column in zip(*server.costs))
            before, after = idle(server, said.idle)
            print(f"{server.name:14} {rate:10.0f} {p50:8.1f} {p99:8.1f} {cpu:8.1f} {before:7.1f} {after:14.1f}", flush=True)
        print_ratios(servers)
    finally:
        for server in servers:
            server.stop()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
