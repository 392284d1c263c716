"""A variant of a site: its files, its configuration, and a running server."""

import os
import time
from contextlib import contextmanager
from pathlib import Path
from string import Template

from server import Failed, Server
from settings import Settings

CONF = Path(__file__).resolve().parent / "conf"


class Site:
    """A variant's files and configuration, in the form for `Server`."""

    def __init__(self, root, variant):
        self.root, self.variant = root, variant
        self.settings = Settings(workers=variant.workers, ready_timeout=60)

    def environment(self):
        return os.environ | {"EXPERIMENT_DATABASE": str(self.root / "hits.sqlite")}

    def expected(self, path):
        raise NotImplementedError("experiments compare no bodies")

    def write_conf(self, name, port, preload, **values):
        n = self.variant.workers
        pool = f"StartServers {n}\nMinSpareServers {n}\nMaxSpareServers {n}\n" + self.variant.pool
        # httpd's ServerLimit must be raised, too, and come first.
        pool = (f"ServerLimit {n}\n" if name == "mod_perl2" else "") + f"MaxClients {n}\n" + pool
        values |= {"root": self.root, "port": port, "name": name, "pool": pool}
        lines = Template(self.variant.conf[name]).safe_substitute(values)
        text = Template((CONF / f"{name}.conf").read_text()).substitute(values, variant=lines)
        path = self.root / f"{name}.conf"
        path.write_text(text)
        return path


@contextmanager
def started(peer, site, path):
    """Starts a server and waits until it answers the path with 200."""
    server = Server(peer, site)
    try:
        until_ready(server, path)
        yield server
    finally:
        server.stop()


def until_ready(server, path):
    end = time.monotonic() + server.site.settings.ready_timeout
    while not (answer := server.get(path)):
        if time.monotonic() > end or server.child.poll() is not None:
            raise Failed(f"no answer: {server.last_words()}")
        time.sleep(0.02)
    if answer[0] != 200:
        raise Failed(f"{answer[0]}: {server.last_words()}")
