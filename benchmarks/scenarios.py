"""The scenarios: throughput, fairness, slow clients, memory."""

import os
import re
import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

import clients
import proc
import wrk
from peers import PEERS, Missing
from server import Failed, running

MODES = ["keep-alive", "close"]
FAMILIES = sorted({peer.family for peer in PEERS.values()})
# Measured only if CAMELEER_BEFORE is set: it needs another build of the program.
DEFAULT_FAMILIES = [family for family in FAMILIES if family != "before" or "CAMELEER_BEFORE" in os.environ]
SIZES = ["10k", "100k", "10m"]
PRELOAD = ["CGI", "DBI", "LWP", "Storable", "HTML::Mason"]


@dataclass(frozen=True)
class Row:
    name: str
    title: str
    path: str
    servers: tuple  # the first is the peer for comparisons
    modes: tuple = tuple(MODES)
    headers: tuple = ()
    origin: bool = False  # its servers have a backend


# 26 pairs, 207 bytes.
PARAMS = "/params?" + "&".join(f"{letter}=value{number}" for number, letter in enumerate("abcdefghijklmnopqrstuvwxyz"))
# PSGI is compared with mod_perl 2's handler, too.
PSGI = ("starman", "uwsgi", "mod_perl2", "before_psgi", "cameleer_psgi")
HANDLER = ("mod_perl2", "before", "cameleer", "cameleer_mp2")
FRONT = ("front_nginx", "front_apache", "front_before", "front_cameleer")
KEPT = ("keep-alive",)

ROWS = [
    Row("r_hello", "`$r` hello", "/hello", HANDLER),
    Row("psgi_hello", "PSGI hello", "/hello", PSGI),
    Row("registry_hello", "Registry hello", "/registry/hello.pl", HANDLER),
    Row("page", "100 kB page (`$r`)", "/page", HANDLER, KEPT),
    Row("psgi_page", "100 kB page (PSGI)", "/page", PSGI, KEPT),
    Row("packed", "100 kB page (`$r`), gzip", "/packed", HANDLER, KEPT, ("Accept-Encoding: gzip",)),
    Row("filtered", "100 kB page through an output filter", "/filtered", ("mod_perl2", "cameleer_mp2"), KEPT),
    Row("params", "26 parameters (`$r`)", PARAMS, HANDLER, KEPT),
    Row("psgi_params", "26 parameters (Plack::Request)", PARAMS, PSGI, KEPT),
    Row("hits", "hits in SQLite (`$r`)", "/hits", HANDLER, KEPT),
    Row("work", "1 ms handler (`$r`)", "/work", HANDLER),
]
# Measured only if named: no target uses them.
EXTRA_ROWS = [
    Row("psgi_work", "1 ms handler (PSGI)", "/work", ("starman", "before_psgi", "cameleer_psgi")),
    Row("static", "static file", "/hello.txt", ("mod_perl2", "before", "cameleer")),
    *(Row(f"static_{size}", f"{size} file", f"/{size}.bin", ("nginx", "before_static", "cameleer_static"), ("keep-alive",))
      for size in SIZES),
    *(Row(f"static_{size}_tls", f"{size} file, TLS", f"/{size}.bin",
          ("nginx_tls", "before_static_tls", "cameleer_static_tls"), ("keep-alive",)) for size in SIZES),
    *(Row(f"proxied_{size}", f"{size} from a backend", f"/proxied/{size}.bin", FRONT, KEPT, origin=True) for size in SIZES),
    Row("included", "page of five included parts", "/included/page.shtml", FRONT, KEPT),
    Row("rewritten", "file by the last of ten rewrite rules", "/rewritten/hello", FRONT, KEPT),
    Row("as_named", "the same file by its name", "/hello.txt", FRONT, KEPT),
]
OTHERS = {
    "fairness": ("mod_perl2", "starman", "cameleer"),
    "slow_clients": ("mod_perl2", "cameleer"),
    "memory": ("mod_perl2", "starman", "cameleer"),
}
DEFAULT = [row.name for row in ROWS] + list(OTHERS)
NAMES = DEFAULT + [row.name for row in EXTRA_ROWS]
NAMES_HELP = [", ".join(DEFAULT), "only when named: " + ", ".join(row.name for row in EXTRA_ROWS)]


def run(site, families=None, names=None):
    run = Run(site, families or DEFAULT_FAMILIES)
    names = names or DEFAULT
    for row in ROWS + EXTRA_ROWS:
        if row.name in names:
            run.throughput(row)
    for name in OTHERS:
        if name in names:
            getattr(run, name)(name, OTHERS[name])
    return {"scenarios": run.results, "commands": run.commands, "heads": run.heads}


class Run:
    """Results by scenario and server; for a missing server, the reason."""

    def __init__(self, site, families):
        self.site, self.families = site, families
        self.results, self.commands, self.heads = {}, {}, {}

    def throughput(self, row):
        with self.backend(row) as site, self.servers(row.name, row.servers, site, path=row.path) as servers:
            for _ in range(self.site.settings.rounds):
                for mode in row.modes:
                    for server in servers:
                        self.attempt(row.name, server, lambda results: results.setdefault(mode, []).append(
                            wrk.measure(server, row.path, mode, row.headers)))

    def fairness(self, name, peers):
        settings = self.site.settings
        with self.servers(name, peers) as servers:
            for server in servers:
                self.attempt(name, server, lambda results: results.update(answered=clients.count_per_connection(
                    server.port, "/hello", settings.connections, settings.fairness_seconds)))

    def slow_clients(self, name, peers):
        with self.servers(name, peers) as servers, sink() as idle_port:
            for pair in range(self.site.settings.rounds * self.site.settings.slow_pairs):
                for server in servers:
                    order = [("without", idle_port), ("with", server.port)]
                    for key, slow_port in order if pair % 2 == 0 else reversed(order):
                        self.attempt(name, server, lambda results: results.setdefault(key, []).append(
                            self.load_beside_slow_clients(server, slow_port)))

    def load_beside_slow_clients(self, server, slow_port):
        with slow_clients(slow_port, self.site.settings.slow_clients):
            return wrk.measure(server, "/hello")

    def memory(self, name, peers):
        with self.servers(name, peers, preload=PRELOAD) as servers:
            for server in servers:
                sizes = [size for size in map(proc.memory_kb, server.workers()) if size]
                self.results[name][server.peer.name] = {"workers": sizes, "fork_us": fork_times(server)}

    def attempt(self, scenario, server, measure):
        """A server that fails under load loses its row, not the whole run."""
        results = self.results[scenario].setdefault(server.peer.name, {})
        if "absent" in results:
            return
        try:
            measure(results)
            server.check_running()
        except (Failed, OSError, subprocess.SubprocessError) as reason:
            self.results[scenario][server.peer.name] = absent(reason, server.anonymous)

    @contextmanager
    def backend(self, row):
        """The site with the port of a backend, nginx with the site's files, if the row's servers pass requests on."""
        if not row.origin:
            yield self.site
            return
        with running(PEERS["nginx"], self.site, path=row.path.removeprefix("/proxied")) as origin:
            yield replace(self.site, origin=origin.port)

    @contextmanager
    def servers(self, scenario, names, site=None, **how):
        results = self.results.setdefault(scenario, {})
        with ExitStack() as stack:
            started = []
            for peer in (PEERS[name] for name in names if PEERS[name].family in self.families):
                print(f"{scenario}: {peer.name}", file=sys.stderr)
                try:
                    server = stack.enter_context(running(peer, site or self.site, **how))
                except (Missing, Failed) as reason:
                    results[peer.name] = absent(reason)
                    continue
                self.note(scenario, server)
                started.append(server)
            yield started

    def note(self, scenario, server):
        self.commands[f"{server.peer.name}, {scenario}"] = server.anonymous(" ".join(server.argv))
        self.heads[f"{server.peer.name}, {scenario}"] = [f"{name}: {value}" for name, value in server.head]


def absent(reason, anonymous=str):
    word = str(reason) if isinstance(reason, Missing) else "failed"
    return {"absent": word, "reason": anonymous(str(reason))}


@contextmanager
def sink():
    """Accepts connections and bytes without reading: slow clients load the machine as usual, but no server."""
    # The server accepts no connection, so the backlog must hold every connection of every round.
    with socket.create_server(("127.0.0.1", 0), backlog=4096) as listener:
        yield listener.getsockname()[1]


@contextmanager
def slow_clients(port, count):
    program = [sys.executable, clients.__file__, "127.0.0.1", str(port), str(count)]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        if not child.stdout.readline():
            raise Failed("slow clients could not connect")
        yield  # the child ends when its standard input is closed


def fork_times(server):
    return [int(us) for us in re.findall(r"\bready\b.*?\bfork_us=(\d+)", server.log_text())]
