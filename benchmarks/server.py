"""A running server: starts on a free port, waits until it is ready, stops by pid."""

import http.client
import os
import signal
import socket
import ssl
import subprocess
import time
from contextlib import contextmanager

import proc


class Failed(Exception):
    """The server failed; the message goes into the report."""


@contextmanager
def running(peer, site, preload=(), path="/hello"):
    server = Server(peer, site, preload)
    try:
        server.wait_until_ready(path)
        yield server
    finally:
        server.stop()


class Server:
    def __init__(self, peer, site, preload=()):
        self.peer, self.site, self.port = peer, site, free_port()
        self.argv = peer.command(site, self.port, preload)
        self.output = site.root / f"{peer.name}.out"
        self.forget_earlier_logs()
        # A separate session: interrupts reach this program first, and orphans can be found.
        with open(self.output, "ab") as output:
            self.child = subprocess.Popen(
                self.argv, env=site.environment(), cwd=site.root, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            )
        self.pid = self.child.pid

    def wait_until_ready(self, path):
        settings = self.site.settings
        deadline = time.monotonic() + settings.ready_timeout
        wanted = self.peer.workers(settings)
        while (answer := self.get(path)) is None or len(self.workers()) < wanted:
            self.check_running()
            if time.monotonic() > deadline:
                state = f"{len(self.workers())} of {wanted} workers, {'an' if answer else 'no'} answer"
                raise Failed(f"not ready after {settings.ready_timeout} s ({state}): {self.last_words()}")
            time.sleep(0.02)
        self.check_answer(path, *answer)

    def check_answer(self, path, status, head, body):
        """Checks the response: neither a fast error page nor less work may win."""
        expected, self.head = self.site.expected(path), head
        if status != 200 or body != expected:
            raise Failed(
                f"GET {path}: expected 200 and {expected[:40]!r}, got {status} and {body[:40]!r}: {self.last_words()}")

    def check_running(self):
        if self.child.poll() is not None:
            raise Failed(f"exited with status {self.child.returncode}: {self.last_words()}")

    def get(self, path):
        connection = self.connection()
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.getheaders(), response.read()
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def connection(self):
        if self.peer.scheme == "http":
            return http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        # The certificate is self-signed, so it is not verified.
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=5, context=ssl._create_unverified_context())

    def url(self, path):
        return f"{self.peer.scheme}://127.0.0.1:{self.port}{path}"

    def cpu_seconds(self):
        return proc.cpu_seconds(self.pid)

    def workers(self):
        members = [process for process in proc.tree(self.pid) if process.pid != self.pid]
        return [m.pid for m in members if self.peer.is_worker(m, self.pid, proc.title(m.pid))]

    def logs(self):
        return [self.output, *self.site.root.glob(f"*-{self.port}.error_log")]

    def forget_earlier_logs(self):
        for log in self.logs():
            log.unlink(missing_ok=True)

    def log_text(self):
        return "\n".join(log.read_text(errors="replace") for log in self.logs() if log.exists())

    def last_words(self):
        lines = [line.strip() for line in self.log_text().splitlines() if line.strip()]
        return self.anonymous(" | ".join(lines[-2:])) or "its log is empty"

    def anonymous(self, text):
        """Removes paths of the machine and the port of the run from a text for reports."""
        text = text.replace(str(self.site.root), "$SITE").replace(f"127.0.0.1:{self.port}", "127.0.0.1:$PORT")
        return text.replace(self.argv[0], os.path.basename(self.argv[0]))

    def stop(self):
        members = proc.tree(self.pid)
        self.child.terminate()
        wait_for(lambda: self.child.poll() is not None and not alive(members), seconds=10)
        for process in alive(members + proc.tree(self.pid)):
            kill(process.pid)
        self.child.wait()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def alive(members):
    now = {process.pid: process.started for process in map(proc.read, {m.pid for m in members}) if process}
    return [process for process in members if now.get(process.pid) == process.started]


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def wait_for(condition, seconds):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
