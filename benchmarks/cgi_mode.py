#!/usr/bin/env python3
"""Measures the CPU time per request of a CGI script: in each CgiMode (program, fork, persistent), and under httpd's mod_cgi.

    benchmarks/cgi_mode.py [--requests 300]

Each server answers that many consecutive requests, and ends. The CPU time of all its processes, minus that of a run without requests,
is divided by their number. CPU time depends little on the machine's other load.
"""
import argparse
import os
import pathlib
import resource
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPTS = {
    "hello": 'print "Content-Type: text/plain\\n\\nhello";',
    "cgi_pm": 'use strict; use warnings; use CGI; my $q = CGI->new; print $q->header("text/plain"), "hello ", $q->param("name");',
}
CAMELEER = """ServerRoot "{dir}"
Listen 127.0.0.1:{port}
ServerName localhost
ErrorLog error.log
StartServers 1
MaxClients 1
MinSpareServers 1
MaxSpareServers 1
ScriptAlias /cgi/ "{dir}/cgi/"
<Directory "{dir}/cgi">
CgiMode {mode}
</Directory>
"""
HTTPD = """ServerRoot "{dir}"
Listen 127.0.0.1:{port}
ServerName localhost
PidFile "{dir}/httpd.pid"
ErrorLog error.log
LoadModule mpm_prefork_module /usr/lib/apache2/modules/mod_mpm_prefork.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule alias_module /usr/lib/apache2/modules/mod_alias.so
LoadModule cgi_module /usr/lib/apache2/modules/mod_cgi.so
User www-data
Group www-data
StartServers 1
MinSpareServers 1
MaxSpareServers 1
MaxRequestWorkers 1
ScriptAlias /cgi/ "{dir}/cgi/"
<Directory "{dir}/cgi">
Require all granted
</Directory>
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def used():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def serve(command, url, requests):
    """CPU seconds of a server from its start to its end."""
    before = used()
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(url).read()
            break
        except OSError:
            assert server.poll() is None and time.monotonic() < deadline, command
            time.sleep(0.05)
    for _ in range(requests):
        with urllib.request.urlopen(url) as answer:
            assert answer.read().startswith(b"hello")
    server.send_signal(signal.SIGTERM)
    server.wait()
    return used() - before


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--requests", type=int, default=300)
    options.add_argument("--program", default=ROOT / "target/release/cameleer")
    said = options.parse_args()
    print(f"{'script':8} {'server':12} {'CPU ms a request':>17}")
    for name, text in SCRIPTS.items():
        for server in ("program", "fork", "persistent", "mod_cgi"):
            with tempfile.TemporaryDirectory() as folder:
                os.chmod(folder, 0o755)
                place = pathlib.Path(folder)
                (place / "cgi").mkdir()
                (place / "cgi/test").write_text("#!/usr/bin/perl\n" + text)
                (place / "cgi/test").chmod(0o755)
                port = free_port()
                is_ours = server != "mod_cgi"
                conf = (CAMELEER if is_ours else HTTPD).format(dir=folder, port=port, mode=server)
                (place / "site.conf").write_text(conf)
                ours = [said.program, "serve", "-f", place / "site.conf"]
                command = ours if is_ours else ["apache2", "-DFOREGROUND", "-f", str(place / "site.conf")]
                url = f"http://127.0.0.1:{port}/cgi/test?name=x"
                idle, busy = serve(command, url, 0), serve(command, url, said.requests)
            print(f"{name:8} {server:12} {(busy - idle) / said.requests * 1000:17.2f}", flush=True)


if __name__ == "__main__":
    main()
