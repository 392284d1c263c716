"""The servers: how each one is started, and how its workers are recognized."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

APACHE_MODULES = Path("/usr/lib/apache2/modules")


class Missing(Exception):
    """The server is missing on this machine; its rows have the reason."""


@dataclass(frozen=True)
class Peer:
    name: str
    family: str  # name for --only
    command: Callable  # (site, port, preload) -> argv
    is_worker: Callable  # (process, root, title) -> bool
    scheme: str = "http"
    workers: Callable = lambda settings: settings.workers  # number of workers of a ready server


def mod_perl2(site, port, preload):
    need(APACHE_MODULES / "mod_perl.so")
    conf = site.write_conf("mod_perl2", port, preload, modules=APACHE_MODULES, user=user())
    return ["/usr/sbin/apache2", "-DFOREGROUND", "-f", str(conf)]


def starman(site, port, preload):
    need(Path("/usr/bin/starman"))
    modules = [f"-M{module}" for module in preload]
    return [
        "starman", *modules, "--preload-app", "--workers", str(site.settings.workers),
        "--max-requests", "1000000", "--listen", f"127.0.0.1:{port}", str(site.root / "app.psgi"),
    ]


def uwsgi(site, port, preload):
    need(Path("/usr/bin/uwsgi"))
    return [
        "uwsgi", "--plugins", "psgi", "--http11-socket", f"127.0.0.1:{port}", "--psgi", str(site.root / "app.psgi"),
        "--master", "--processes", str(site.settings.workers), "--disable-logging", "--die-on-term",
    ]


def cameleer(site, port, preload, binary=None):
    return [binary or cameleer_binary(), "serve", "-f", str(site.write_conf("cameleer", port, preload, user=user()))]


def cameleer_mp2(site, port, preload, binary=None):
    return [binary or cameleer_binary(), "serve", "-f", str(site.write_conf("cameleer_mp2", port, preload, user=user()))]


def user():
    """The user of Apache's workers, which do not run as root."""
    return "User www-data\nGroup www-data" if os.geteuid() == 0 else ""


def cameleer_psgi(site, port, preload, binary=None):
    return [
        binary or cameleer_binary(), "run", str(site.root / "app.psgi"), "-l", f"127.0.0.1:{port}",
        "--workers", str(site.settings.workers), "--max-requests", "0",
    ]


def nginx(site, port, preload, tls=False):
    need(Path("/usr/sbin/nginx"))
    certificate = f"ssl_certificate {site.root}/cert.pem; ssl_certificate_key {site.root}/key.pem;"
    conf = site.write_conf(
        "nginx", port, preload, user="user www-data;" if os.geteuid() == 0 else "",
        listen_tls="ssl" if tls else "", certificate=certificate if tls else "")
    return ["/usr/sbin/nginx", "-p", str(site.root), "-c", str(conf)]


def nginx_tls(site, port, preload):
    return nginx(site, port, preload, tls=True)


def cameleer_static(site, port, preload, binary=None, tls=False):
    certificate = f"SSLEngine On\nSSLCertificateFile {site.root}/cert.pem\nSSLCertificateKeyFile {site.root}/key.pem"
    conf = site.write_conf("cameleer_static", port, preload, certificate=certificate if tls else "")
    return [binary or cameleer_binary(), "serve", "-f", str(conf)]


def cameleer_static_tls(site, port, preload, binary=None):
    return cameleer_static(site, port, preload, binary, tls=True)


def front_nginx(site, port, preload):
    need(Path("/usr/sbin/nginx"))
    conf = site.write_conf("front_nginx", port, preload, user="user www-data;" if os.geteuid() == 0 else "")
    return ["/usr/sbin/nginx", "-p", str(site.root), "-c", str(conf)]


def front_apache(site, port, preload):
    need(APACHE_MODULES / "mod_proxy_http.so")
    conf = site.write_conf("front_apache", port, preload, modules=APACHE_MODULES, user=user())
    return ["/usr/sbin/apache2", "-DFOREGROUND", "-f", str(conf)]


def front_cameleer(site, port, preload, binary=None):
    return [binary or cameleer_binary(), "serve", "-f", str(site.write_conf("front_cameleer", port, preload))]


def before(start):
    """The same server from the program in CAMELEER_BEFORE, to compare two builds within one run."""

    def started(site, port, preload):
        if "CAMELEER_BEFORE" not in os.environ:
            raise Missing("CAMELEER_BEFORE names no program")
        return start(site, port, preload, checked(Path(os.environ["CAMELEER_BEFORE"])))

    return started


def cameleer_binary():
    default = Path(__file__).resolve().parent.parent / "target/release/cameleer"
    return checked(Path(os.environ.get("CAMELEER", default)))


def checked(binary):
    need(binary, "not built")
    return str(binary.resolve())


def need(path, otherwise="not installed"):
    if not path.is_file():
        raise Missing(otherwise)


def is_child(process, root, title):
    return process.parent == root


def is_cameleer_worker(process, root, title):
    return "cameleer: worke" in title  # comm holds 15 bytes


def one(settings):
    return 1


def processes(settings):
    return settings.threads


PEERS = {peer.name: peer for peer in [
    Peer("mod_perl2", "mod_perl2", mod_perl2, is_child),
    Peer("starman", "starman", starman, is_child),
    Peer("uwsgi", "uwsgi", uwsgi, is_child),
    Peer("cameleer", "cameleer", cameleer, is_cameleer_worker),
    Peer("cameleer_mp2", "cameleer", cameleer_mp2, is_cameleer_worker),
    Peer("cameleer_psgi", "cameleer", cameleer_psgi, is_cameleer_worker),
    Peer("before", "before", before(cameleer), is_cameleer_worker),
    Peer("before_psgi", "before", before(cameleer_psgi), is_cameleer_worker),
    Peer("nginx", "nginx", nginx, is_child, workers=processes),
    Peer("nginx_tls", "nginx", nginx_tls, is_child, "https", processes),
    Peer("cameleer_static", "cameleer", cameleer_static, is_cameleer_worker, workers=one),
    Peer("cameleer_static_tls", "cameleer", cameleer_static_tls, is_cameleer_worker, "https", one),
    Peer("front_nginx", "nginx", front_nginx, is_child, workers=processes),
    Peer("front_apache", "apache", front_apache, is_child, workers=one),
    Peer("front_cameleer", "cameleer", front_cameleer, is_cameleer_worker, workers=one),
    Peer("front_before", "before", before(front_cameleer), is_cameleer_worker, workers=one),
    Peer("before_static", "before", before(cameleer_static), is_cameleer_worker, workers=one),
    Peer("before_static_tls", "before", before(cameleer_static_tls), is_cameleer_worker, "https", one),
]}
