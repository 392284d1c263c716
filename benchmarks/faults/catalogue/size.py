"""Large amounts of bytes, files and descriptors."""

import time

from load import Load, connect, get, receive, request
from servers import came

from .clients import opened
from .registry import fault


@fault("large_response", "a 1 GB response that nobody reads", "memory + < 200 MB, others served")
def large_response(server):
    before = server.memory_mb()
    with connect(server.port) as client:
        client.sendall(request("/big?1024"))
        client.recv(1000)
        with Load(server.port, clients=2, patience=3) as others:
            time.sleep(4)
        grown = server.memory_mb() - before
    return f"+{grown:.0f} MB; others: {others.told()}"


@fault("large_upload", "a 1 GB upload that the script does not read", "memory + < 200 MB")
def large_upload(server):
    before, grown, piece = server.memory_mb(), 0, b"x" * (1 << 20)
    with connect(server.port, 20) as client:
        client.sendall(b"POST /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1073741824\r\n\r\n")
        try:
            for number in range(1024):
                client.sendall(piece)
                if number % 100 == 0:
                    grown = max(grown, server.memory_mb() - before)
            said = receive(client)[0][9:12].decode() or "closed"
        except OSError as error:
            said = type(error).__name__
    return f"+{grown:.0f} MB; {said}"


@fault("disk_full", "an upload of 8 MB, room for 4 MB of temporary files", "507 or 413 for that one, nothing left of it", disk=4 << 20)
def disk_full(server):
    with connect(server.port) as client:
        client.sendall(b"POST /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 8388608\r\n\r\n")
        try:
            client.sendall(bytes(8 << 20))
        except OSError:
            pass  # refused in mid-upload; the response may have arrived before
        try:
            said = receive(client)[0][9:12].decode() or "closed without an answer"
        except OSError as error:
            said = type(error).__name__
    came(lambda: server.disk_used() == 0, 5)
    return f"{said}; {server.disk_used() >> 10} kB left behind; the next one: {get(server.port, '/hello').reason}"


@fault("descriptors", "600 connections, 256 open files", "no busy loop, well again in < 5 s", files=256)
def descriptors(server):
    clients = [opened(server.port) for _ in range(600)]
    time.sleep(1)
    cpu = server.cpu_seconds()
    time.sleep(2)
    cpu = server.cpu_seconds() - cpu
    for client in clients:
        client.close()
    began = time.monotonic()
    back = came(lambda: get(server.port, "/hello", 1).ok, 20)
    took = time.monotonic() - began
    return f"{cpu:.2f} s CPU in 2 s; " + (f"serves again after {took:.1f} s" if back else "no service after 20 s")
