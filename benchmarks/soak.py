#!/usr/bin/env python3
"""A long run of mixed requests with reloads and recycled workers: no request may fail, and no process may grow.

    benchmarks/soak.py [--requests 1000000] [--program target/release/cameleer]

Every response is compared with the expected one. At the end, the memory (proportional size) and descriptors of master, front and mold
are measured again, and the values and arenas of the workers' interpreters are compared with those of each worker's first
requests. The report is Markdown; the exit status is 1 if a condition is violated.
"""

import argparse
import json
import multiprocessing
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import proc
from server import free_port, wait_for
from soak_client import Client, Tally
from soak_site import write_site

WARM = 0.05  # share of the requests before the first measurement
RELOADS = 10
MAX_GROWTH_KB = 15 * 1024
MAX_GROWTH = 0.02


@dataclass(frozen=True)
class Measured:
    """What a run has measured beside its responses."""

    before: dict  # memory and descriptors by role, after the warm-up
    after: dict  # the same at the end
    seconds: float
    left: list  # pids of processes that live after the stop
    crashed: list  # lines of the log about workers that a signal has killed


def main():
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="cameleer-soak-") as folder:
        report = soak(options, Path(folder))
    print(markdown(report))
    sys.exit(0 if all(kept for _, _, kept in report["promises"]) else 1)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--per-child", type=int, default=5000, help="MaxRequestsPerChild")
    parser.add_argument("--program", default=str(Path(__file__).parent.parent / "target/release/cameleer"))
    return parser.parse_args()


def soak(options, folder):
    port = free_port()
    conf = write_site(folder, port, options.workers, options.per_child)
    serve = [options.program, "serve", "-f", str(conf)]
    with open(folder / "out", "wb") as out:
        master = subprocess.Popen(serve, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)
    try:
        if not wait_for_answer(port):
            sys.exit(f"soak: the server does not answer: {(folder / 'error.log').read_text()[-2000:]}")
        warm = int(options.requests * WARM)
        started = time.monotonic()
        tally = run(port, warm, options.clients, lambda: None)
        before = weigh(master.pid)
        reload = lambda: subprocess.run([options.program, "reload", "-f", str(conf)], check=True, capture_output=True)
        tally += run(port, options.requests - warm, options.clients, reload)
        seconds = time.monotonic() - started
        settle(master.pid, options.workers)
        after = weigh(master.pid)
    finally:
        members = proc.tree(master.pid)
        master.terminate()
        master.wait(timeout=30)
    left = [process.pid for process in members if Path(f"/proc/{process.pid}").exists()]
    return judged(options, tally, Measured(before, after, seconds, left, crashes(folder)))


def wait_for_answer(port):
    def answers():
        try:
            return Client(port, 0).ask("static") is None
        except OSError:
            return False
    wait_for(answers, seconds=20)
    return answers()


def run(port, requests, clients, reload):
    """Sends `requests` requests from `clients` processes; calls `reload` RELOADS times, evenly spread."""
    done = multiprocessing.Value("q", 0)
    answers = multiprocessing.Queue()
    share = [requests // clients + (1 if number < requests % clients else 0) for number in range(clients)]
    started = [
        multiprocessing.Process(target=work, args=(port, number, count, done, answers))
        for number, count in enumerate(share)
    ]
    for process in started:
        process.start()
    for turn in range(1, RELOADS + 1):
        wait_for(lambda: done.value >= requests * turn // (RELOADS + 1) or not any(p.is_alive() for p in started), 1e9)
        reload()
    tally = Tally()
    for _ in started:
        tally += answers.get()
    for process in started:
        process.join()
    return tally


def work(port, number, count, done, answers):
    client = Client(port, number)
    for turn in range(count):
        client.step()
        if turn % 50 == 49:
            with done.get_lock():
                done.value += 50
    answers.put(client.tally)


def roles(master):
    """The processes master, front, serving mold, and one worker."""
    found = {"master": master}
    for process in proc.tree(master):
        words = proc.title(process.pid)
        if process.parent == master and "front" in words:
            found["front"] = process.pid
        elif process.parent == master and "mold" in words:
            found["mold"] = max(process.pid, found.get("mold", 0))
        elif process.pid != master:
            found["a worker"] = process.pid
    return found


def settle(master, workers):
    """Waits until old generations have gone and the pool has its size."""
    wait_for(lambda: len(proc.tree(master)) == 3 + workers, seconds=30)


def weigh(master):
    return {
        role: {"pss_kb": proc.memory_kb(pid)["pss_kb"], "descriptors": len(list(Path(f"/proc/{pid}/fd").iterdir()))}
        for role, pid in roles(master).items()
    }


def crashes(folder):
    return [line for line in (folder / "error.log").read_text(errors="replace").splitlines() if "signal=" in line]


def judged(options, tally, measured):
    before, after = measured.before, measured.after
    growth = sum(after[role]["pss_kb"] - before[role]["pss_kb"] for role in ("master", "front", "mold"))
    descriptors = {role: after[role]["descriptors"] - before[role]["descriptors"] for role in before}
    values, arenas = tally.growth("values"), tally.growth("arenas")
    return {
        "requests": tally.requests, "seconds": measured.seconds, "kinds": dict(tally.kinds), "workers": len(tally.interpreters),
        "reloads": RELOADS, "reopened": tally.reopened, "before": before, "after": after, "failures": tally.failures[:20],
        "promises": [
            ("requests lost or answered wrongly", tally.lost, tally.lost == 0),
            ("requests asked", tally.requests, tally.requests == options.requests),
            ("growth of master, front and mold, PSS in kB (< 15 MB)", growth, growth < MAX_GROWTH_KB),
            ("descriptors more than at the start", json.dumps(descriptors), all(n <= 0 for n in descriptors.values())),
            grown("values in", values, tally),
            grown("arenas of", arenas, tally),
            ("workers killed by a signal", len(measured.crashed), not measured.crashed),
            ("processes left after the stop", len(measured.left), not measured.left),
        ],
    }


def grown(what, share, tally):
    text = f"{what} an interpreter, largest growth of {len(tally.settled())} (≤ 2 %)"
    return text, "none lived long enough" if share is None else f"{share:.2%}", share is not None and share <= MAX_GROWTH


def markdown(report):
    rows = [f"| {what} | {value} | {'yes' if kept else '**no**'} |" for what, value, kept in report["promises"]]
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(report["kinds"].items()))
    sizes = [
        f"| {role} | {report['before'][role]['pss_kb']} | {report['after'][role]['pss_kb']} "
        f"| {report['before'][role]['descriptors']} | {report['after'][role]['descriptors']} |"
        for role in report["before"]
    ]
    return "\n".join([
        f"# Soak: {report['requests']} requests in {report['seconds']:.0f} s", "",
        f"{report['reloads']} reloads, {report['workers']} workers in turn, {report['reopened']} connections opened anew."
        f" Kinds: {kinds}.", "",
        "| promise | measured | kept |", "|---|---|---|", *rows, "",
        "| process | PSS kB, warm | at the end | descriptors | at the end |", "|---|---:|---:|---:|---:|", *sizes, "",
        *(f"    {failure}" for failure in report["failures"]),
    ])


if __name__ == "__main__":
    main()
