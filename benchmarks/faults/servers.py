"""The three servers: how each is started and reloaded, and which of its processes are workers."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from string import Template

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import proc
from peers import APACHE_MODULES, Missing, cameleer_binary, need
from server import Failed, alive, free_port, kill, wait_for

from load import get

WORKERS = 4


class Server:
    """A running server with its own site; both are removed at the end."""

    def __init__(self, root, files=16384, disk=None):
        self.root, self.port, self.children = root, free_port(), []
        self.files, self.disk = files, disk

    def spawn(self, *argv):
        environment = os.environ | {"TMPDIR": str(self.root / "tmp")}
        with open(self.root / "output", "ab") as output:
            child = subprocess.Popen([*self.around(), *argv], cwd=self.root, stdin=subprocess.DEVNULL, stdout=output,
                                     stderr=output, start_new_session=True, env=environment)
        self.children.append(child)
        return child

    def around(self):
        """The start command: with a limit of open files, and a small file system for temporary files."""
        limit = ["prlimit", f"--nofile={self.files}:{self.files}"]
        if self.disk is None:
            return limit
        mount = f'mount -t tmpfs -o size={self.disk},mode=777 none {self.root}/tmp && exec "$0" "$@"'
        return [*limit, "unshare", "--mount", "sh", "-c", mount]

    def disk_used(self):
        disk = os.statvfs(f"/proc/{self.child.pid}/root{self.root}/tmp")
        return (disk.f_blocks - disk.f_bfree) * disk.f_frsize

    def break_conf(self, name):
        with open(self.root / name, "a") as file:
            file.write("NoSuchDirective;\n")

    def conf(self, name):
        values = dict(root=self.root, port=self.port, workers=WORKERS, files=self.files, modules=APACHE_MODULES,
                      user="User www-data\nGroup www-data" if os.geteuid() == 0 else "")
        target = self.root / name
        target.write_text(Template((HERE / "conf" / name).read_text()).substitute(values))
        return str(target)

    def wait_until_ready(self):
        if not self.comes_back(20) or not wait_for_workers(self, 20):
            raise Failed(f"not ready: {(self.root / 'output').read_text()[-300:]}")

    def comes_back(self, seconds):
        return came(lambda: get(self.port, "/hello").ok, seconds)

    def processes(self):
        return [process for child in self.children for process in proc.tree(child.pid)]

    def pids(self):
        return sorted({process.pid for process in self.processes()})

    def descriptors(self):
        return sum(len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in self.pids() if Path(f"/proc/{pid}").exists())

    def memory_mb(self):
        sizes = filter(None, map(proc.memory_kb, self.pids()))
        return sum(size["pss_kb"] for size in sizes) / 1024

    def cpu_seconds(self):
        return sum(process.ticks for process in self.processes()) / proc.TICKS_PER_SECOND

    def break_code(self):
        module = self.root / "lib/Faults.pm"
        self.whole = module.read_text()
        module.write_text(self.whole + "\nthis is not Perl {{{\n")

    def start_again(self):
        """Starts the server again after it has ended by itself."""
        self.children.clear()
        self.start()
        self.wait_until_ready()

    def stop_gracefully(self):
        self.child.terminate()

    def stop(self):
        members = self.processes()
        for child in self.children:
            if child.poll() is None:
                child.terminate()
        wait_for(lambda: not alive(members), seconds=5)
        for process in alive(members):
            kill(process.pid)
        for child in self.children:
            child.wait()


class Cameleer(Server):
    name = "Cameleer"

    def start(self):
        self.child = self.spawn(cameleer_binary(), "serve", "-f", self.conf("cameleer.conf"))

    def workers(self):
        return [pid for pid in self.pids() if "cameleer: worke" in proc.title(pid)]

    def reload(self):
        done = subprocess.run([cameleer_binary(), "reload", "--pid-file", str(self.root / "cameleer.pid")], capture_output=True)
        return done.returncode

    def signal_reload(self):
        os.kill(self.child.pid, signal.SIGHUP)

    def break_conf(self):
        super().break_conf("cameleer.conf")

    def front(self):
        return next(pid for pid in self.pids() if "cameleer: front" in proc.title(pid))


class ModPerl2(Server):
    name = "Apache + mod_perl 2"

    def start(self):
        need(APACHE_MODULES / "mod_perl.so")
        self.child = self.spawn("/usr/sbin/apache2", "-DFOREGROUND", "-f", self.conf("mod_perl2.conf"))

    def workers(self):
        return [process.pid for process in self.processes() if process.parent == self.child.pid]

    def signal_reload(self):
        os.kill(self.child.pid, signal.SIGUSR1)

    def stop_gracefully(self):
        self.child.send_signal(signal.SIGWINCH)

    def break_conf(self):
        super().break_conf("mod_perl2.conf")

    def front(self):
        raise Missing("has none")

    def reload(self):
        self.signal_reload()
        return None


class NginxStarman(Server):
    name = "nginx + Starman"

    def start(self):
        need(Path("/usr/bin/starman")), need(Path("/usr/sbin/nginx"))
        self.starman = self.spawn("starman", "--workers", str(WORKERS), "--max-requests", "1000000", "--listen",
                                  str(self.root / "starman.sock"), "--pid", str(self.root / "starman.pid"),
                                  str(self.root / "faults.psgi"))
        wait_for((self.root / "starman.sock").exists, seconds=10)
        (self.root / "starman.sock").chmod(0o777)
        self.child = self.spawn("/usr/sbin/nginx", "-c", self.conf("nginx.conf"), "-e", str(self.root / "nginx.error_log"))

    def workers(self):
        return [process.pid for process in self.processes() if process.parent == self.starman.pid]

    def signal_reload(self):
        os.kill(self.starman.pid, signal.SIGHUP)
        os.kill(self.child.pid, signal.SIGHUP)

    def stop_gracefully(self):
        self.child.send_signal(signal.SIGQUIT)
        wait_for(lambda: self.child.poll() is not None, seconds=20)
        self.starman.send_signal(signal.SIGQUIT)

    def break_conf(self):
        super().break_conf("nginx.conf")

    def front(self):
        return next(process.pid for process in proc.tree(self.child.pid) if process.parent == self.child.pid)

    def reload(self):
        self.signal_reload()
        return None


SERVERS = (Cameleer, ModPerl2, NginxStarman)


@contextmanager
def running(kind, **conditions):
    """A server of that kind; conditions: the limit of open `files`, and bytes of `disk` for temporary files."""
    root = Path(tempfile.mkdtemp(prefix="faults-"))
    shutil.copytree(HERE / "apps", root, dirs_exist_ok=True)
    (root / "htdocs").mkdir()
    (root / "tmp").mkdir(mode=0o777)
    (root / "tmp").chmod(0o777)
    root.chmod(0o755)
    server = kind(root, **conditions)
    try:
        server.start()
        server.wait_until_ready()
        yield server
    finally:
        server.stop()
        shutil.rmtree(root, ignore_errors=True)


def wait_for_workers(server, seconds):
    return came(lambda: len(server.workers()) >= WORKERS, seconds)


def came(condition, seconds):
    wait_for(condition, seconds)
    return condition()


def alive_pid(pid):
    try:
        os.kill(pid, 0)
        return True
    except ProcessLookupError:
        return False
