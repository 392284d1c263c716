#!/usr/bin/env python3
"""How long a saved change takes until `cameleer dev` serves it: `saves.py [PROGRAM] [--saves N]`.

Saves a module of a small application, and asks for the page until it has the new text. A save is a write in place or a
renamed file, alternately, as editors do. The pause before each save is as long as a developer's is at least.
"""
import argparse
import http.client
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

# Seconds before each save: the process for the next load has to start meanwhile.
PAUSE = 0.5
APP = """use lib '{folder}/lib'; use My;
sub {{ [200, ['Content-Type', 'text/html'], ['<html><body>', My::text(), '</body></html>']] }}
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def page(port):
    """The page; empty while nobody listens."""
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        client.request("GET", "/")
        return client.getresponse().read().decode()
    except OSError:
        return ""
    finally:
        client.close()


def save(path, text, renames):
    target = path + ".tmp" if renames else path
    with open(target, "w", encoding="utf-8") as out:
        out.write(f"package My; sub text {{ '{text}' }} 1;\n")
    if renames:
        os.rename(target, path)


def measure(port, path, saves):
    """Milliseconds from each save to the first page with its text."""
    times = []
    for number in range(saves):
        time.sleep(PAUSE)
        text = f"change {number};"
        began = time.monotonic()
        save(path, text, number % 2 == 1)
        while text not in page(port):
            pass
        times.append(1000 * (time.monotonic() - began))
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", default="target/release/cameleer")
    parser.add_argument("--saves", type=int, default=40)
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/lib")
        path = f"{folder}/lib/My.pm"
        with open(f"{folder}/app.psgi", "w", encoding="utf-8") as out:
            out.write(APP.format(folder=folder))
        save(path, "first", False)
        port = free_port()
        command = [program, "dev", "--listen", f"127.0.0.1:{port}", "app.psgi"]
        with open(f"{folder}/log", "w", encoding="utf-8") as log:
            server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        try:
            while "first" not in page(port):
                time.sleep(0.05)
                if server.poll() is not None:
                    with open(f"{folder}/log", encoding="utf-8") as log:
                        sys.exit(log.read())
            times = sorted(measure(port, path, options.saves))
        finally:
            server.terminate()
            server.wait()
    worst = times[min(len(times) - 1, len(times) * 9 // 10)]
    print(f"{len(times)} saves: median {statistics.median(times):.0f} ms, 90 % within {worst:.0f} ms, worst {times[-1]:.0f} ms")


if __name__ == "__main__":
    main()
