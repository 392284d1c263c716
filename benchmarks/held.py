#!/usr/bin/env python3
"""Memory of quiet connections, and the time of one published message to all of them, while ordinary requests go on.

    benchmarks/held.py [--count 10000] [--only websocket,sse,held] [--workers 4] [--rate 100]

Each kind has a server of its own, whose event pool has a program of PAGI: `websocket` opens WebSockets, `sse` streams of
server-sent events of the program, and `held` streams that a program of a blocking pool leaves with the front. Rows have the
proportional memory of all processes of the server before and with the connections, the growth for each connection, in all, of
the front and of the workers; the time from the publication of a message until the last connection has received it; and the
99th percentile of ordinary requests at a fixed rate meanwhile, none of which may fail. The limit of descriptors must allow two
for each connection in the front (`ulimit -n`). The binary is `$CAMELEER`, else target/release/cameleer.
"""
import argparse
import pathlib
import resource
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import proc
from peers import cameleer_binary
from server import free_port

HEADERS = b"Host: localhost\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r\n" \
          b"Accept-Language: en-US,en;q=0.5\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nCookie: session=0123456789abcdef\r\n"
REQUESTS = {
    "websocket": b"GET /live HTTP/1.1\r\n" + HEADERS + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                 b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    "sse": b"GET /live HTTP/1.1\r\n" + HEADERS + b"Accept: text/event-stream\r\n\r\n",
    "held": b"GET /work/hold HTTP/1.1\r\n" + HEADERS + b"Accept: text/event-stream\r\n\r\n",
}
MESSAGE = b"to all of you"

PAGI = """use v5.36;
use Future::AsyncAwait;
use Cameleer::Broadcast;
async sub app {
    my ($scope, $receive, $send) = @_;
    my $is_socket = $scope->{type} eq 'websocket';
    die "Unsupported: $scope->{type}" if !$is_socket && $scope->{type} ne 'sse';
    await $receive->() if $is_socket;
    await $send->({ type => $is_socket ? 'websocket.accept' : 'sse.start' });
    my $subscription = Cameleer::Broadcast->subscribe(all => sub {
        $send->($is_socket ? { type => 'websocket.send', text => $_[0] } : { type => 'sse.send', data => $_[0] })->retain;
    });
    while (1) {
        my $event = await $receive->();
        last if $event->{type} =~ /disconnect/;
    }
}
\\&app;
"""
PSGI = """use v5.36;
use Cameleer::Broadcast;
sub ($env) {
    return [200, ['Content-Type' => 'text/event-stream', Cameleer::Broadcast->hold('all')], [": hello\\n\\n"]] if $env->{PATH_INFO} eq '/hold';
    return [200, [], [Cameleer::Broadcast->presence('all') // 0]] if $env->{PATH_INFO} eq '/presence';
    Cameleer::Broadcast->publish(all => 'to all of you') if $env->{PATH_INFO} eq '/say';
    return [200, ['Content-Type' => 'text/plain'], ['done']];
};
"""
SITE = """ServerName localhost
ServerRoot "{dir}"
Listen 127.0.0.1:{port}
PidFile "{dir}/pid"
ErrorLog "{dir}/error.log"
MaxConnections 30000
MaxConnectionsPerClient 0
HoldConnections 30000
StartServers 2
MaxClients 2
<WorkerPool live>
PsgiMode event
EventConnections 10000
StartServers {workers}
MaxClients {workers}
</WorkerPool>
<Location /live>
PerlPool live
PsgiApp "{dir}/live.pl"
</Location>
<Location /work>
PsgiApp "{dir}/work.psgi"
</Location>
"""


class Server:
    def __init__(self, folder, workers):
        self.port, self.folder = free_port(), folder
        (folder / "live.pl").write_text(PAGI)
        (folder / "work.psgi").write_text(PSGI)
        conf = folder / "site.conf"
        conf.write_text(SITE.format(dir=folder, port=self.port, workers=workers))
        self.output = open(folder / "out", "ab")
        self.child = subprocess.Popen([cameleer_binary(), "serve", "-f", str(conf)], stdout=self.output, stderr=self.output, start_new_session=True)
        deadline = time.monotonic() + 60
        while True:
            try:
                self.get("/work/plain")
                return
            except OSError as error:
                assert self.child.poll() is None and time.monotonic() < deadline, f"{error}: {(folder / 'out').read_text()[-500:]}"
                time.sleep(0.05)

    def connect(self, request):
        """A connection whose response has begun."""
        opened = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        opened.sendall(request)
        head = b""
        while b"\r\n\r\n" not in head:
            piece = opened.recv(4096)
            if not piece:
                raise ConnectionError("closed")
            head += piece
        if head.split(b" ", 2)[1] not in (b"101", b"200"):
            raise ConnectionError(head.split(b"\r\n")[0].decode())
        return opened, head.split(b"\r\n\r\n", 1)[1]

    def get(self, target):
        opened, body = self.connect(f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        with opened:
            while piece := opened.recv(4096):
                body += piece
        return body

    def memory_kb(self):
        """Proportional memory: of all processes, the front, the event workers."""
        sizes = [(proc.title(process.pid), proc.memory_kb(process.pid)) for process in proc.tree(self.child.pid)]
        of = lambda what: sum(size["pss_kb"] for title, size in sizes if size and what in title)
        return of(""), of("front"), of("worker")

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        try:
            self.child.wait(20)
        except subprocess.TimeoutExpired:
            self.child.kill()
        self.output.close()


class Others(threading.Thread):
    """Ordinary requests at a fixed rate."""

    def __init__(self, server, rate):
        super().__init__(daemon=True)
        self.server, self.pause, self.is_over, self.times, self.failed = server, 1 / rate, False, [], 0

    def run(self):
        due = time.perf_counter()
        while not self.is_over:
            due += self.pause
            time.sleep(max(0, due - time.perf_counter()))
            began = time.perf_counter()
            try:
                assert b"done" in self.server.get("/work/plain")
            except (OSError, AssertionError):
                self.failed += 1
            self.times.append(time.perf_counter() - began)

    def end(self):
        self.is_over = True
        self.join()
        self.times.sort()
        return self.times[len(self.times) * 99 // 100] * 1000


def broadcast(server, connections):
    """Seconds until all connections have the message."""
    poll, left = select.epoll(), {}
    for opened, before in connections:
        opened.setblocking(False)
        left[opened.fileno()] = [opened, before]
        poll.register(opened.fileno(), select.EPOLLIN)
    began = time.perf_counter()
    server.get("/work/say")
    while left:
        events = poll.poll(30)
        assert events, f"{len(left)} connections got nothing"
        for number, _ in events:
            one = left[number]
            piece = one[0].recv(4096)
            assert piece, "closed"
            one[1] += piece
            if MESSAGE in one[1]:
                poll.unregister(number)
                del left[number]
    return time.perf_counter() - began


def measure(kind, folder, options):
    server = Server(folder, options.workers)
    try:
        before = server.memory_kb()
        others = Others(server, options.rate)
        others.start()
        connections = [server.connect(REQUESTS[kind]) for _ in range(options.count)]
        while int(server.get("/work/presence").split()[-1]) < options.count:
            time.sleep(0.05)
        quiet = server.memory_kb()
        seconds = broadcast(server, connections)
        after = server.memory_kb()
        p99 = others.end()
        each = [(now - then) / options.count for now, then in zip(quiet, before)]
        print(f"{kind:10} {before[0] / 1024:8.1f} {quiet[0] / 1024:8.1f} {after[0] / 1024:8.1f} {each[0]:8.2f} {each[1]:8.2f} {each[2]:8.2f} "
              f"{seconds:8.3f} {p99:8.1f} {len(others.times):6} {others.failed:6}", flush=True)
        for opened, _ in connections:
            opened.close()
        return others.failed
    finally:
        server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--only", default="websocket,sse,held")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--rate", type=float, default=100)
    options = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    print(f"{'kind':10} {'MB before':>8} {'MB quiet':>8} {'MB after':>8} {'KiB each':>8} {'front':>8} {'workers':>8} "
          f"{'s to all':>8} {'p99 ms':>8} {'others':>6} {'failed':>6}")
    failed = 0
    for kind in options.only.split(","):
        folder = pathlib.Path(tempfile.mkdtemp())
        folder.chmod(0o755)
        try:
            failed += measure(kind, folder, options)
        finally:
            shutil.rmtree(folder)
    raise SystemExit(failed > 0)


if __name__ == "__main__":
    main()
