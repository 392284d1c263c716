"""A site in a temporary folder, and the server that serves it."""
import grp
import os
import pwd
import re
import shlex
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from cases import CaseError, unescaped

MODULES = "/usr/lib/apache2/modules"
BASE_MODULES = "mpm_prefork authz_core mime dir alias env setenvif headers cgi"
# The modification time of each file, unless a `time` line gives another.
MODIFIED = "Thu, 02 Jan 2020 03:04:05 GMT"
# The system's file of types differs from release to release.
TYPES = """text/html html htm
text/plain txt
text/css css
image/png png
image/gif gif
image/jpeg jpeg jpg
application/x-tar tar
"""
PATIENCE_SECONDS = 20


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Refused(CaseError):
    """The server ended before it listened."""


@dataclass(frozen=True)
class ServerKind:
    """The server to start for a site."""

    modules: list  # modules of httpd beside BASE_MODULES
    command: str  # None: httpd
    backend: int  # port


class Running:
    """A site's folder and server, from `with` to its end."""

    def __init__(self, site, cases, kind, last=None):
        self.site, self.cases, self.modules, self.command = site, cases, kind.modules, kind.command
        backend = kind.backend
        # An item whose lines stand at the end of the configuration.
        self.last = last
        self.temporary = tempfile.TemporaryDirectory(prefix="site-")
        self.root = os.path.realpath(self.temporary.name)
        self.port = free_port()
        self.places = [(self.root, "@ROOT@"), (f":{self.port}", ":@PORT@")]
        closed = free_port()
        self.values = {
            "@ROOT@": self.root, "@PORT@": str(self.port), "@BACKEND@": str(backend), "@CLOSED@": str(closed)}
        self.places += [(f":{backend}", ":@BACKEND@"), (f":{closed}", ":@CLOSED@")]
        self.server = None

    def __enter__(self):
        os.chmod(self.root, 0o755)
        for folder in ("htdocs", "run"):
            os.mkdir(f"{self.root}/{folder}")
        with open(f"{self.root}/mime.types", "w", encoding="utf-8") as file:
            file.write(TYPES)
        conf = []
        for item in self.site.items:
            self.lay(item, conf, {})
        for case in self.cases:
            for item in self.site.every + case.items:
                self.lay(item, conf, self.of_case(case))
        for folder, _, _ in os.walk(f"{self.root}/htdocs"):
            self.set_time(folder, MODIFIED)
        path = f"{self.root}/site.conf"
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.head() + "".join(conf) + (self.fill(self.last.text(), {}) if self.last else ""))
        self.start(path)
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        if self.server and self.server.poll() is None:
            os.killpg(self.server.pid, signal.SIGTERM)
            try:
                self.server.wait(PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(self.server.pid, signal.SIGKILL)
                self.server.wait()
        self.temporary.cleanup()

    def of_case(self, case):
        it = case.it()
        return {**({"@IT@": it.removesuffix("\n")} if it is not None else {}), "@CASE@": case.name}

    def fill(self, text, more):
        for name, value in {**more, **self.values}.items():
            text = text.replace(name, value)
        return text

    def path(self, name):
        """A name is below htdocs; one that begins with a slash is below the site's folder."""
        return self.root + name if name.startswith("/") else f"{self.root}/htdocs/{name}"

    def lay(self, item, conf, more):
        """Writes what an item of the site or of a case asks for; adds directives to `conf`."""
        keyword, argument, block = item.keyword, self.fill(item.argument, more), item.block
        if keyword == "every":
            keyword, _, argument = argument.partition(" ")
        if keyword == "conf":
            conf.append(self.fill(item.text() if block else argument + "\n", more))
        elif keyword in ("file", "program", "bytes"):
            path = self.path(argument)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            data = unescaped(block) if keyword == "bytes" else self.fill(item.text(), more).encode()
            with open(path, "wb") as file:
                file.write(data)
            os.chmod(path, 0o755 if keyword == "program" else 0o644)
            self.set_time(path, MODIFIED)
        elif keyword == "folder":
            os.makedirs(self.path(argument), exist_ok=True)
        elif keyword == "link":
            path, _, to = argument.partition(" ")
            os.symlink(to, self.path(path))
        elif keyword == "time":
            path, _, when = argument.partition(" ")
            self.set_time(self.path(path), when)
        elif keyword == "mode":
            path, _, bits = argument.partition(" ")
            os.chmod(self.path(path), int(bits, 8))
        elif keyword == "owner":
            path, _, owner = argument.partition(" ")
            user, _, group = owner.partition(":")
            os.chown(self.path(path), pwd.getpwnam(user).pw_uid, grp.getgrnam(group).gr_gid if group else -1)
        elif keyword == "run":
            subprocess.run(argument, shell=True, check=True, cwd=self.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @staticmethod
    def set_time(path, when):
        seconds = parsedate_to_datetime(when).timestamp()
        os.utime(path, (seconds, seconds))

    def head(self):
        """The directives before the site's own."""
        load = ""
        if self.command is None:
            for module in f"{BASE_MODULES} {' '.join(self.modules)}".split():
                load += f"LoadModule {module}_module {MODULES}/mod_{module}.so\n"
            load += f"PidFile {self.root}/run/pid\nUser www-data\nGroup www-data\nDefaultRuntimeDir {self.root}/run\n"
            load += "StartServers 1\n"
        return (
            f"ServerRoot {self.root}\n{load}ServerName localhost\nListen 127.0.0.1:{self.port}\n"
            f"ErrorLog {self.root}/error.log\nDocumentRoot {self.root}/htdocs\nTypesConfig {self.root}/mime.types\n"
            f"<Directory {self.root}>\nRequire all granted\n</Directory>\n"
        )

    def start(self, conf):
        if self.command is None:
            words = ["apache2", "-f", conf, "-DFOREGROUND"]
        else:
            words = shlex.split(self.fill(self.command, {"@CONF@": conf}))
        with open(f"{self.root}/output", "wb") as output:
            self.server = subprocess.Popen(
                words, start_new_session=True, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                env={"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin", "TZ": "UTC", "LANG": "C"}, cwd=self.root)
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            if self.server.poll() is not None or time.monotonic() > end:
                error = Refused if self.server.poll() is not None else CaseError
                said = self.said().replace(self.root, "@ROOT@")
                self.stop()
                raise error(f"{self.site.place}: the server did not start: {said}")
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.02)

    def said(self):
        """The last lines of the server's output and error log."""
        text = ""
        for name in ("output", "error.log"):
            if os.path.exists(f"{self.root}/{name}"):
                with open(f"{self.root}/{name}", encoding="utf-8", errors="replace") as file:
                    text += file.read()
        line = re.search(r"on line (\d+) of", text)
        with open(f"{self.root}/site.conf", encoding="utf-8") as conf:
            lines = conf.read().split("\n")
        return text[-1500:] + (lines[int(line[1]) - 1] if line and int(line[1]) <= len(lines) else "")
