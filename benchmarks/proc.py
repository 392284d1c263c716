"""Facts from /proc about a server: processes, CPU time, memory."""

import os
from dataclasses import dataclass
from pathlib import Path

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Process:
    pid: int
    parent: int
    session: int
    ticks: int  # includes reaped children, so that the time of ended workers counts
    started: int  # distinguishes processes with the same pid


def tree(root):
    """The process `root` and its descendants, including orphans of its session."""
    processes = [process for process in map(read, pids()) if process]
    members = {process.pid for process in processes if root in (process.pid, process.session)}
    grown = True
    while grown:
        children = {process.pid for process in processes if process.parent in members}
        grown = not children <= members
        members |= children
    return [process for process in processes if process.pid in members]


def pids():
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def read(pid):
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The command's name may contain blanks and parentheses; field 3 follows the last one.
    fields = [None, None, None, *stat.rpartition(")")[2].split()]
    times = map(int, fields[14:18])
    return Process(pid, int(fields[4]), int(fields[6]), sum(times), int(fields[22]))


def cpu_seconds(root):
    return sum(process.ticks for process in tree(root)) / TICKS_PER_SECOND


def machine_seconds():
    """(busy, total) of all cores; time stolen by the hypervisor counts as busy."""
    user, nice, system, idle, iowait, *interrupts_and_steal = map(int, Path("/proc/stat").read_text().split()[1:9])
    busy = user + nice + system + sum(interrupts_and_steal)
    return busy / TICKS_PER_SECOND, (busy + idle + iowait) / TICKS_PER_SECOND


def title(pid):
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        return command + " " + Path(f"/proc/{pid}/comm").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def memory_kb(pid):
    """Private and proportional size; None for a process that has ended."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    sizes = dict(line.split()[:2] for line in rollup.splitlines()[1:])
    size = lambda name: int(sizes[name + ":"])
    return {"private_kb": size("Private_Dirty") + size("Private_Clean"), "pss_kb": size("Pss")}
