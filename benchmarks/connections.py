#!/usr/bin/env python3
"""Measures the cost of connections with PerlProcessConnectionHandler, for Cameleer and Apache with mod_perl 2.

    benchmarks/connections.py [--rounds 5] [--connections 1000] [--lines 20000]

Both servers run the same echo handler. Measures the CPU time of all server processes: for a connection with one line, from open to close,
and for a further line of 64 bytes on an open connection. The servers alternate; results are medians of the rounds.
"""
import argparse
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import tempfile
import time

import proc
from peers import APACHE_MODULES, cameleer_binary, user
from server import free_port

LIBRARY = pathlib.Path(__file__).resolve().parent / "apps/lib"
LINE = b"x" * 63 + b"\n"
HOST = """PerlModule Bench::ModPerl2::Lines
<VirtualHost *:{port}>
PerlProcessConnectionHandler Bench::ModPerl2::Lines
</VirtualHost>
"""
COMMON = """ServerName localhost
ServerRoot "{dir}"
Listen 127.0.0.1:{port}
PidFile "{dir}/pid"
ErrorLog "{dir}/error.log"
StartServers 4
MinSpareServers 4
MaxSpareServers 4
{user}
PerlSwitches -I{library}
"""
CAMELEER = COMMON + "MaxClients 4\n" + HOST
APACHE = """LoadModule mpm_prefork_module {modules}/mod_mpm_prefork.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule perl_module {modules}/mod_perl.so
""" + COMMON + "MaxRequestWorkers 4\n" + HOST


class Server:
    def __init__(self, name, folder):
        self.name, self.port = name, free_port()
        conf = folder / f"{name}.conf"
        place = folder / name
        place.mkdir()
        place.chmod(0o755)
        conf.write_text((CAMELEER if name == "cameleer" else APACHE).format(
            dir=place, port=self.port, user=user(), library=folder / "lib", modules=APACHE_MODULES))
        program = [cameleer_binary(), "serve"] if name == "cameleer" else ["/usr/sbin/apache2", "-DFOREGROUND"]
        self.child = subprocess.Popen([*program, "-f", str(conf)], stdout=subprocess.DEVNULL, start_new_session=True)
        self.costs = {"connection": [], "line": []}

    def wait_until_ready(self):
        deadline = time.monotonic() + 20
        while True:
            try:
                return self.talk(1)
            except OSError:
                assert self.child.poll() is None and time.monotonic() < deadline, self.name
                time.sleep(0.05)

    def talk(self, lines):
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for _ in range(lines):
                client.sendall(LINE)
                answer = b""
                while len(answer) < len(LINE):
                    piece = client.recv(len(LINE) - len(answer))
                    if not piece:
                        raise ConnectionError(f"{self.name} closed the connection")
                    answer += piece
                assert answer == LINE, self.name

    def spent(self, do):
        before = proc.cpu_seconds(self.child.pid)
        do()
        return (proc.cpu_seconds(self.child.pid) - before) * 1e6

    def round(self, connections, lines):
        self.costs["connection"].append(self.spent(lambda: [self.talk(1) for _ in range(connections)]) / connections)
        self.costs["line"].append(self.spent(lambda: self.talk(lines)) / lines)

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        self.child.wait()


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--connections", type=int, default=1000)
    options.add_argument("--lines", type=int, default=20000)
    said = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        folder = pathlib.Path(folder)
        subprocess.run(["cp", "-R", LIBRARY, folder / "lib"], check=True)  # readable for workers that run as nobody
        servers = [Server(name, folder) for name in ("cameleer", "apache")]
        try:
            for server in servers:
                server.wait_until_ready()
            for _ in range(said.rounds):
                for server in servers:
                    server.round(said.connections, said.lines)
        finally:
            for server in servers:
                server.stop()
    print(f"{'CPU us of a':12} {'cameleer':>9} {'apache':>9} {'ratio':>6}")
    for what in ("connection", "line"):
        ours, theirs = (statistics.median(server.costs[what]) for server in servers)
        print(f"{what:12} {ours:9.1f} {theirs:9.1f} {ours / theirs:6.2f}")


if __name__ == "__main__":
    main()
