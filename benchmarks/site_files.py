"""The files for all servers, in a temporary directory, and the loop count of /work."""

import os
import random
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from string import Template

from settings import Settings

HELLO = b"Hello, World\n"
# Each server's including element; in the answer, the part.
INCLUDE = b'<!--#include virtual="/included/part.html" -->'
INCLUDED = b"<html>" + b"<p>text</p>\n@" * 5 + b"</html>\n"
PART = b"<b>part</b>" * 20
STATIC = {"/10k.bin": 10_000, "/100k.bin": 100_000, "/10m.bin": 10_000_000}
CALIBRATION = """
use Time::HiRes 'time';
my $best = 1;
for (1 .. 100) { my $t = time; Bench::Burn::text(); $t = time - $t; $best = $t if $t < $best }
print $best;
"""
CALIBRATION_LOOPS = 10_000


@dataclass(frozen=True)
class Site:
    root: Path
    conf: Path
    settings: Settings
    loops: int
    work: bytes  # response body of /work
    page: bytes  # response body of /page
    origin: int = 9  # port of the backend; nobody answers at the port "discard"

    @classmethod
    def create(cls, source, root, settings):
        root.chmod(0o755)  # Apache's workers do not run as root
        shutil.copytree(source / "apps", root, dirs_exist_ok=True)
        (root / "mime.types").write_text("text/plain txt\n")
        for path, size in STATIC.items():
            (root / "htdocs" / path[1:]).write_bytes(static(size))
        include(root / "htdocs/included")
        (root / "htdocs/rewritten").mkdir()
        certify(root)
        (root / "db").mkdir()
        (root / "db").chmod(0o777)  # and do not own the site
        lib = root / "lib"
        loops = calibrate(lib, settings.work_ms)
        page = subprocess.run(["perl", f"-I{lib}", "-MBench::Content", "-e", "print Bench::Content::page()"], stdout=subprocess.PIPE, check=True)
        return cls(root, source / "conf", settings, loops, burn(lib, loops, "print Bench::Burn::text()"), page.stdout)

    def expected(self, path):
        if path in STATIC:
            return static(STATIC[path])
        if path.startswith("/proxied/"):
            return self.expected(path.removeprefix("/proxied"))
        known = {"/work": self.work, "/page": self.page, "/packed": self.page, "/filtered": self.page.upper(),
                 "/params": b"26 pairs\n", "/hits": b"hits\n", "/included/page.shtml": INCLUDED.replace(b"@", PART)}
        return known.get(path.partition("?")[0], HELLO)

    def environment(self):
        return os.environ | {"PERL5LIB": str(self.root / "lib"), "BENCH_LOOPS": str(self.loops)}

    def write_conf(self, name, port, preload, **values):
        template = Template((self.conf / f"{name}.conf").read_text())
        # Two builds of one server may run at the same time.
        path = self.root / f"{name}-{port}.conf"
        path.write_text(template.substitute(
            values, name=f"{name}-{port}", root=self.root, port=port, origin=self.origin, loops=self.loops, workers=self.settings.workers,
            threads=self.settings.threads,
            preload="\n".join(f"PerlModule {module}" for module in preload),
        ))
        return path


def static(size):
    """Text whose packets differ, but that is the same in all runs."""
    return random.Random(size).randbytes(size)


def include(folder):
    folder.mkdir()
    (folder / "page.shtml").write_bytes(INCLUDED.replace(b"@", INCLUDE))
    (folder / "part.html").write_bytes(PART)


def certify(root):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
         "-subj", "/CN=localhost", "-keyout", root / "key.pem", "-out", root / "cert.pem"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def calibrate(lib, ms):
    """Number of loops in Bench::Burn that take this long. The minimum of many measurements: noise only adds."""
    return round(CALIBRATION_LOOPS * ms / 1000 / float(burn(lib, CALIBRATION_LOOPS, CALIBRATION)))


def burn(lib, loops, code):
    argv = ["perl", f"-I{lib}", "-MBench::Burn", "-e", code]
    return subprocess.run(argv, env=os.environ | {"BENCH_LOOPS": str(loops)}, stdout=subprocess.PIPE, check=True).stdout
