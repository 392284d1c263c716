#!/usr/bin/env python3
"""Measures response times while slow clients read large responses: HTTP/1, HTTP/2 with closed windows, TLS.

    python3 benchmarks/slow_readers.py target/release/cameleer

Needs only Python. Each line has the kind and number of clients, and MB per response; 50th and 99th percentile and maximum of the other
requests in ms. Exit status 1 if a request was not answered with 200, or if a 99th percentile exceeds 50 ms.
"""
import os, shutil, socket, ssl, struct, subprocess, sys, tempfile, time

PROGRAM = os.path.abspath(sys.argv[1])
OTHERS = int(os.environ.get("OTHERS", "400"))
APP = r"""sub { my $e = shift; $e->{PATH_INFO} =~ m{^/(\d+)} or return [200, [], ['small']]; my $pieces = $1 * 16;
    sub { my $w = $_[0]->([200, ['Content-Type' => 'text/plain']]); $w->write('x' x 65536) for 1 .. $pieces; $w->close } }"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


class Server:
    def __init__(self, tls):
        self.folder = tempfile.mkdtemp(prefix="cameleer-slow-")
        self.port = free_port()
        protocol = "Protocols h2c http/1.1\n"
        if tls:
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{self.folder}/key", "-out",
                            f"{self.folder}/crt", "-subj", "/CN=localhost", "-days", "2"], check=True, capture_output=True)
            protocol = f"SSLEngine On\nSSLCertificateFile {self.folder}/crt\nSSLCertificateKeyFile {self.folder}/key\n"
        with open(f"{self.folder}/app.psgi", "w") as f:
            f.write(APP)
        with open(f"{self.folder}/site.conf", "w") as f:
            f.write(f"Listen 127.0.0.1:{self.port}\nServerName localhost\nPidFile {self.folder}/pid\nErrorLog {self.folder}/log\n"
                    f"DocumentRoot {self.folder}\nStartServers 4\nMaxClients 4\nQueueStale 0\nSpoolDirectory {self.folder}\n{protocol}"
                    f"<Location />\nPsgiApp {self.folder}/app.psgi\n</Location>\n")
        self.process = subprocess.Popen([PROGRAM, "serve", "-f", f"{self.folder}/site.conf"], stdout=subprocess.DEVNULL)
        self.tls = ssl._create_unverified_context() if tls else None
        deadline = time.time() + 30
        while self.ask() is None and time.time() < deadline:
            time.sleep(0.05)

    def connect(self, small_buffer=False):
        s = socket.socket()
        if small_buffer:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.connect(("127.0.0.1", self.port))
        return self.tls.wrap_socket(s) if self.tls else s

    def ask(self):
        """Milliseconds until the response; None without a response."""
        begun = time.monotonic()
        try:
            with self.connect() as s:
                s.settimeout(100)
                s.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                answer = b"".join(iter(lambda: s.recv(65536), b""))
        except OSError:
            return None
        return (time.monotonic() - begun) * 1000 if answer.startswith(b"HTTP/1.1 200") else None

    def stop(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder)


def slow(server, kind, clients, megabytes):
    path = f"/{megabytes}".encode()
    if kind == "HTTP/2":
        s = server.connect()
        head = [(b":method", b"GET"), (b":scheme", b"http"), (b":path", path), (b":authority", b"localhost")]
        block = b"".join(literal(*field) for field in head)
        s.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, struct.pack(">HI", 4, 0)) + frame(4, 1, 0)
                  + b"".join(frame(1, 5, 1 + 2 * n, block) for n in range(clients)))
        return [s]
    connections = []
    for _ in range(clients):
        s = server.connect(small_buffer=True)
        s.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
        connections.append(s)
    return connections


failed = False
for kind in ("HTTP/1", "HTTP/2", "TLS"):
    for clients, megabytes in ((0, 0), (1, 16), (1, 100), (10, 16), (10, 100), (100, 16), (100, 100)):
        server = Server(kind == "TLS")
        held = slow(server, kind, clients, megabytes) if clients else []
        times = []
        for _ in range(OTHERS):
            times.append(server.ask())
            time.sleep(0.005)
        lost = times.count(None)
        times = sorted(t for t in times if t is not None)
        at = lambda part: times[min(len(times) - 1, int(len(times) * part))] if times else float("inf")
        failed |= lost > 0 or at(0.99) > 50
        print(f"{kind:7} {clients:3} x {megabytes:3} MB: others: p50 {at(.5):6.1f} ms, p99 {at(.99):6.1f} ms, longest {at(1):7.1f} ms, "
              f"{lost} of {OTHERS} without an answer", flush=True)
        for s in held:
            s.close()
        server.stop()
sys.exit(failed)
