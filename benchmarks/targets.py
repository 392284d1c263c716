"""The performance targets, one per row, and whether a run meets them."""

from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Target:
    text: str
    scenario: str
    servers: tuple
    figure: Callable  # Figures -> number or None
    shown: str
    met: Callable  # number -> bool: whether the target is met


def ratio(text, compared, mode, key, met):
    """A target for the figure `key` of `compared`: (scenario, server, peer)."""
    scenario, server, peer = compared
    what = {"rps": "× req/s", "cpu_us": "× CPU"}[key]
    return Target(
        text, scenario, (server, peer), lambda figures: figures.ratio(scenario, server, peer, mode, key),
        "{:.2f} " + what, met)


def at_least(limit):
    return lambda value: value >= limit


def at_most(limit):
    return lambda value: value <= limit


KEEP, CLOSE = "keep-alive", "close"
HELLO = ("r_hello", "cameleer", "mod_perl2")
PSGI = ("psgi_hello", "cameleer_psgi", "starman")
REGISTRY = ("registry_hello", "cameleer", "mod_perl2")
WORK = ("work", "cameleer", "mod_perl2")

NGINX = [("static_10k", "10 kB"), ("static_100k", "100 kB"), ("static_10m", "10 MB")]

MOD_PERL = "mod_perl2"

MP2 = [("r_hello", "`$r` hello"), ("registry_hello", "ModPerl::Registry hello"), ("page", "100 kB page"), ("params", "26 parameters"),
       ("filtered", "100 kB through a filter"), ("work", "1 ms handler")]

TARGETS = [
    ratio("`$r` hello: ≤ 0.40 × mod_perl 2's CPU", HELLO, KEEP, "cpu_us", at_most(0.40)),
    ratio("`$r` hello: ≥ 2.5 × its req/s", HELLO, KEEP, "rps", at_least(2.5)),
    ratio("PSGI hello: ≤ 0.42 × its handler's CPU", ("psgi_hello", "cameleer_psgi", MOD_PERL), KEEP, "cpu_us", at_most(0.42)),
    ratio("`$r` hello, close: ≤ 0.65 × its CPU", HELLO, CLOSE, "cpu_us", at_most(0.65)),
    ratio("100 kB page (`$r`): ≤ 0.70 × its CPU", ("page", "cameleer", MOD_PERL), KEEP, "cpu_us", at_most(0.70)),
    ratio("100 kB page (`$r`): ≥ 1.6 × its req/s", ("page", "cameleer", MOD_PERL), KEEP, "rps", at_least(1.6)),
    ratio("100 kB page (PSGI): ≤ 0.70 × its handler's CPU", ("psgi_page", "cameleer_psgi", MOD_PERL), KEEP, "cpu_us", at_most(0.70)),
    ratio("100 kB page, gzip: ≤ 0.50 × its CPU", ("packed", "cameleer", MOD_PERL), KEEP, "cpu_us", at_most(0.50)),
    ratio("100 kB page, gzip: ≥ 1.5 × its req/s", ("packed", "cameleer", MOD_PERL), KEEP, "rps", at_least(1.5)),
    ratio("Registry hello: ≤ 0.55 × mod_perl 2's handler's CPU", ("registry_hello", "cameleer", MOD_PERL), KEEP, "cpu_us", at_most(0.55)),
    *(ratio(f"{what}, mod_perl 2's source: ≤ its CPU", (row, "cameleer_mp2", MOD_PERL), KEEP, "cpu_us", at_most(1.0))
      for row, what in MP2),
    ratio("26 parameters (Apache::Request): ≤ 0.60 × its CPU", ("params", "cameleer", MOD_PERL), KEEP, "cpu_us", at_most(0.60)),
    ratio("hits in SQLite: ≤ 0.60 × its CPU", ("hits", "cameleer", MOD_PERL), KEEP, "cpu_us", at_most(0.60)),
    ratio("`$r` hello, keep-alive: ≥ 1.2 × mod_perl2's req/s", HELLO, KEEP, "rps", at_least(1.2)),
    ratio("… at no more CPU per request", HELLO, KEEP, "cpu_us", at_most(1.0)),
    ratio("PSGI hello, keep-alive: ≥ 1.5 × Starman's req/s", PSGI, KEEP, "rps", at_least(1.5)),
    ratio("… at ≤ 0.7 × its CPU per request", PSGI, KEEP, "cpu_us", at_most(0.7)),
    ratio("Registry hello, keep-alive: ≥ 2 × ModPerl::Registry's req/s", REGISTRY, KEEP, "rps", at_least(2.0)),
    ratio("`$r` hello, close: ≥ 1.0 × mod_perl2's req/s", HELLO, CLOSE, "rps", at_least(1.0)),
    ratio("Registry hello, close: ≥ 1.0 × ModPerl::Registry's req/s", REGISTRY, CLOSE, "rps", at_least(1.0)),
    ratio("PSGI hello, close: ≥ 1.3 × Starman's req/s", PSGI, CLOSE, "rps", at_least(1.3)),
    *(ratio(f"{size} file: ≥ 0.9 × nginx's req/s", (name, "cameleer_static", "nginx"), KEEP, "rps", at_least(0.9))
      for name, size in NGINX),
    *(ratio(f"{size} file, TLS: ≥ 0.9 × nginx's req/s", (f"{name}_tls", "cameleer_static_tls", "nginx_tls"), KEEP, "rps", at_least(0.9))
      for name, size in NGINX),
    ratio("1 ms handler, keep-alive: CPU per request within 5 % of mod_perl2's", WORK, KEEP, "cpu_us", at_most(1.05)),
    Target("32 busy connections on 4 workers: slowest ≥ 0.5 of the mean", "fairness", ("cameleer",),
           lambda figures: figures.fairness("cameleer"), "{:.2f}", at_least(0.5)),
    Target("200 slow clients cost ≤ 5 % of the throughput", "slow_clients", ("cameleer",),
           lambda figures: figures.slow_clients_loss("cameleer"), "{:.1%}", at_most(0.05)),
    Target("fresh worker, 5 modules preloaded: < 1 MB private", "memory", ("cameleer",),
           lambda figures: figures.worker_kb("cameleer", "private_kb"), "{:.0f} kB", lambda kb: kb < 1000),
    Target("fork to ready: < 5 ms", "memory", ("cameleer",),
           lambda figures: figures.fork_ms("cameleer"), "{:.2f} ms", lambda ms: ms < 5),
]


def judge(target, figures):
    """(measured, met?) as words."""
    if reason := figures.absent(target.scenario, *target.servers):
        return reason, "–"
    value = target.figure(figures)
    if value is None:
        return "n/a", "–"
    return target.shown.format(value), "yes" if target.met(value) else "**no**"
