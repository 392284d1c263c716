"""Runs wrk, and measures the server's CPU time."""

import os
import re
import subprocess
from dataclasses import astuple, dataclass

import proc
from server import Failed

UNITS = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000}
CLOSE = ("-H", "Connection: close")


def command(url, connections, seconds, mode="keep-alive", headers=()):
    sent = [word for header in headers for word in ("-H", header)] + list(CLOSE if mode == "close" else ())
    return ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", *sent, url]


def measure(server, path, mode="keep-alive", headers=()):
    """Warms up, then measures under load. CPU time is the server's only, without wrk's."""
    settings = server.site.settings
    load(server.url(path), settings, settings.warm_up_seconds, mode, headers)
    before = Spent.so_far(server)
    result = load(server.url(path), settings, settings.seconds, mode, headers)
    spent = Spent.so_far(server).since(before)
    result["cpu_us"] = spent.server / result["requests"] * 1e6 if result["requests"] else None
    result["others"] = spent.others_share()
    return result


@dataclass(frozen=True)
class Spent:
    """CPU seconds: of the server, of wrk (a reaped child), of the machine busy and in total."""
    server: float
    wrk: float
    busy: float
    total: float

    @classmethod
    def so_far(cls, server):
        times = os.times()
        return cls(server.cpu_seconds(), times.children_user + times.children_system, *proc.machine_seconds())

    def since(self, before):
        return Spent(*(now - then for now, then in zip(astuple(self), astuple(before))))

    def others_share(self):
        """Share of the machine used by other processes, a measure of noise."""
        return max(0, self.busy - self.server - self.wrk) / self.total


def load(url, settings, seconds, mode, headers=()):
    argv = command(url, settings.connections, seconds, mode, headers)
    done = subprocess.run(argv, capture_output=True, text=True, timeout=seconds + 30)
    if done.returncode != 0:
        raise Failed(f"wrk: {done.stdout.strip() or done.stderr.strip()}")
    return parse(done.stdout)


def parse(output):
    requests = int(search(r"(\d+) requests in", output))
    socket_errors = re.search(r"Socket errors: (.*)", output)
    return {
        "requests": requests,
        "rps": float(search(r"Requests/sec:\s+([\d.]+)", output)),
        "p50_us": percentile(50, output) if requests else None,
        "p99_us": percentile(99, output) if requests else None,
        "errors": sum(map(int, re.findall(r"\d+", socket_errors[1]))) if socket_errors else 0,
        "non_2xx": int(search(r"Non-2xx or 3xx responses: (\d+)", output, "0")),
    }


def percentile(rank, output):
    number, unit = re.search(rf"^\s+{rank}%\s+([\d.]+)(\w+)\s*$", output, re.M).groups()  # "1.90s " has a blank behind it
    return float(number) * UNITS[unit]


def search(pattern, text, otherwise=None):
    found = re.search(pattern, text)
    if found is None and otherwise is None:
        raise ValueError(f"unexpected output of wrk:\n{text}")
    return found[1] if found else otherwise
