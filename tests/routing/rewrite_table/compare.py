#!/usr/bin/env python3
"""Asks Apache's httpd the cases of `cases.txt` and writes its answers into the file (needs apache2). The lines of Cameleer stay."""
import os, socket, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
MODULES = "/usr/lib/apache2/modules"
ENV = '#!/bin/sh\nprintf "Content-Type: text/plain\\n\\nS=%s I=%s Q=%s V=%s R=%s" \\\n' \
      '    "$SCRIPT_NAME" "$PATH_INFO" "$QUERY_STRING" "$V" "$REDIRECT_URL"\n'
FILES = {
    "env.cgi": ENV, "sub/env.cgi": ENV, "script.txt": ENV, "there.txt": "there", "sub/there.txt": "sub there", "empty.txt": "",
    "names.map": "# names\nana value-of-ana more words\n#commented no\nana second\n", "one.map": "key only\n",
    "map.sh": '#!/bin/sh\nwhile read -r key; do [ "$key" = null ] && echo NULL || echo "value-of-$key"; done\n',
    "users": "camel:{SHA}FKK3d8cilR/nUVmv9S+Xoztf7LM=\n",
}


def cases(lines):
    """(lines of the host, of the folder, of sub, [(number of the line behind the request, request)])"""
    found = []
    for number, line in enumerate(lines):
        if line.startswith("## "):
            found.append(([], [], [], []))
        elif line.startswith("|"):
            place = {"/": 1, "s": 2}.get(line[1:2], 0)
            found[-1][place].append(line[1 if place == 0 else 2:].strip())
        elif line.startswith("> "):
            found[-1][3].append((number + 1, line[2:]))
    return found


def build(folder, number, case):
    root = f"{folder}/c{number}"
    os.makedirs(f"{root}/sub")
    for name, text in FILES.items():
        with open(f"{root}/{name}", "w") as file:
            file.write(text)
        os.chmod(f"{root}/{name}", 0o755 if text.startswith("#!") else 0o644)
    os.symlink("there.txt", f"{root}/link.txt")
    fill = lambda rules: "".join(line + "\n" for line in rules).replace("@ROOT@", root).replace("HOST", f"c{number}.test")
    for place, rules in (("", case[1]), ("sub/", case[2])):
        if rules:
            with open(f"{root}/{place}.htaccess", "w") as file:
                file.write("RewriteEngine On\n" + fill(rules))
    engine = "RewriteEngine On\n" if case[0] else ""
    return f"<VirtualHost *:*>\nServerName c{number}.test\nDocumentRoot {root}\n{engine}{fill(case[0])}</VirtualHost>\n"


def httpd(folder, port, hosts):
    names = "mpm_event authn_core authn_file authz_core authz_host authz_user auth_basic autoindex alias cgid dir mime rewrite".split()
    load = "".join(f"LoadModule {name}_module {MODULES}/mod_{name}.so\n" for name in names)
    with open(f"{folder}/httpd.conf", "w") as conf:
        conf.write(f"""ServerRoot {folder}\n{load}ServerName localhost\nListen 127.0.0.1:{port}\nPidFile {folder}/pid
ErrorLog {folder}/error.log\nScriptSock {folder}/cgisock\nUser www-data\nGroup www-data\nTypesConfig /etc/mime.types
AddHandler cgi-script .cgi\n<Directory {folder}>\nRequire all granted\nAllowOverride All\nOptions +ExecCGI +FollowSymLinks
</Directory>\n{hosts}""")
    return subprocess.Popen(["apache2", "-f", f"{folder}/httpd.conf", "-DFOREGROUND"], start_new_session=True)


def ask(port, root, host, request):
    target, *words = request.replace("@ROOT@", root).split(" ")
    fields = "".join(f"{header.replace(':', ': ', 1)}\r\n" for header in headers_of(words))
    with socket.create_connection(("127.0.0.1", port), 10) as client:
        client.sendall(f"GET {target} HTTP/1.1\r\nHost: {host}\r\n{fields}Connection: close\r\n\r\n".encode())
        head, _, body = client.makefile("rb").read().partition(b"\r\n\r\n")
    if b"chunked" in head:
        body = dechunked(body)
    lines = head.decode("latin-1").split("\r\n")
    of = lambda name: [line.split(": ", 1)[1] for line in lines[1:] if line.lower().startswith(name + ": ")]
    status = lines[0].split(" ")[1]
    said = [status] + of("location")
    if status == "200":
        kind = of("content-type")
        said += [f"type={kind[0]}" for _ in [0] if kind and kind[0] != "text/plain"]
        for name, short in (("set-cookie", "cookie"), ("vary", "vary")):
            values = ", ".join(of(name))
            said += [f"{short}={values.lower() if short == 'vary' else values}" for _ in [0] if values]
        said.append(body.decode("latin-1"))
    return " ".join(said).replace(root, "@ROOT@").replace(host, "HOST").rstrip()


def dechunked(body):
    whole = b""
    while True:
        size, _, rest = body.partition(b"\r\n")
        length = int(size, 16)
        if length == 0:
            return whole
        whole, body = whole + rest[:length], rest[length + 2:]


def headers_of(words):
    """Words behind a word that ends with a scheme (`Authorization:Basic`) are part of it."""
    joined = []
    for word in words:
        if ":" in word:
            joined.append(word)
        else:
            joined[-1] += " " + word
    return joined


def main():
    path = f"{HERE}/cases.txt"
    lines = open(path).read().split("\n")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        found = cases(lines)
        hosts = "".join(build(folder, number, case) for number, case in enumerate(found))
        server = httpd(folder, port, hosts)
        try:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    if server.poll() is not None:
                        sys.exit("apache2 did not start: " + open(f"{folder}/error.log").read())
                    time.sleep(0.05)
            for number, case in enumerate(found):
                for line, request in case[3]:
                    lines[line] = "< " + ask(port, f"{folder}/c{number}", f"c{number}.test", request)
        finally:
            server.terminate()
            server.wait()
    with open(path, "w") as file:
        file.write("\n".join(lines))


main()
