#!/usr/bin/env python3
"""Prints the table of `expected.txt` as Apache's httpd answers it: `compare.py` (needs apache2 and python3-h2).

Each of the bytes 0x01 to 0xff stands raw, then encoded, in a path and in a query, over HTTP/1.1 and HTTP/2.
"""
import os, socket, struct, subprocess, sys, tempfile, time
sys.path.append("/usr/lib/python3/dist-packages")
import hpack

MODULES = "/usr/lib/apache2/modules"
PLACES = [("path", b"/a%sb"), ("query", b"/a?x=%sb")]


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def http1(port, target):
    with socket.create_connection(("127.0.0.1", port), 5) as client:
        client.sendall(b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answer = client.makefile("rb").readline().split()
    return int(answer[1]) if len(answer) > 1 and answer[0].startswith(b"HTTP/") else 0


def http2(port, target):
    fields = [(b":method", b"GET"), (b":scheme", b"http"), (b":authority", b"localhost"), (b":path", target)]
    head = b"".join(literal(*field) for field in fields)
    with socket.create_connection(("127.0.0.1", port), 5) as client:
        client.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0) + frame(1, 5, 1, head))
        read = client.makefile("rb").read
        while len(begin := read(9)) == 9:
            payload, stream = read(int.from_bytes(begin[:3], "big")), int.from_bytes(begin[5:], "big")
            if begin[3] == 1 and stream == 1:
                return int(dict(hpack.Decoder().decode(payload))[":status"])
            # A reset stream, or the end of the connection: the request was malformed.
            if begin[3] in (3, 7):
                return 400
    return 0


def ranges(values):
    """`01-20,23`"""
    spans = []
    for value in values:
        if spans and spans[-1][1] == value - 1:
            spans[-1][1] = value
        else:
            spans.append([value, value])
    return ",".join(f"{first:02x}" if first == last else f"{first:02x}-{last:02x}" for first, last in spans)


def table(port):
    for protocol, ask in (("http/1", http1), ("http/2", http2)):
        for place, pattern in PLACES:
            for form, written in (("raw", lambda byte: bytes([byte])), ("encoded", lambda byte: b"%%%02X" % byte)):
                found = {}
                for byte in range(1, 256):
                    found.setdefault(ask(port, pattern % written(byte)), []).append(byte)
                for status in sorted(found):
                    print(protocol, place, form, status, ranges(found[status]))


def httpd(folder, port):
    names = ("mpm_prefork", "authz_core", "alias", "http2", "dir")
    load = "".join(f"LoadModule {name}_module {MODULES}/mod_{name}.so\n" for name in names)
    with open(f"{folder}/a.txt", "w") as page:
        page.write("a\n")
    with open(f"{folder}/httpd.conf", "w") as conf:
        conf.write(f"""ServerRoot {folder}\n{load}ServerName localhost\nListen 127.0.0.1:{port}\nPidFile {folder}/pid
ErrorLog {folder}/error.log\nUser www-data\nGroup www-data\nDocumentRoot {folder}\nProtocols h2c http/1.1
AliasMatch "(?s)^/a.*" {folder}/a.txt\nAcceptPathInfo On\n<Directory {folder}>\nRequire all granted\n</Directory>\n""")
    return subprocess.Popen(["apache2", "-f", f"{folder}/httpd.conf", "-DFOREGROUND"], start_new_session=True)


def main():
    if len(sys.argv) > 1:
        return table(int(sys.argv[1]))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        server = httpd(folder, port)
        try:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    time.sleep(0.05)
            table(port)
        finally:
            server.terminate()
            server.wait()


main()
