"""Writes a run to disk: raw.json for programs, summary.md for readers, machine.md for repetitions."""

import json

import wrk
from figures import Figures
from scenarios import EXTRA_ROWS, MODES, OTHERS, PRELOAD, ROWS
from targets import TARGETS, judge


def write(results, runs):
    folder = new_folder(runs, f'{results["date"]}-{results["label"]}')
    (folder / "raw.json").write_text(json.dumps(results, indent=1) + "\n")
    (folder / "summary.md").write_text(summary(results))
    (folder / "machine.md").write_text(machine(results))
    return folder


def new_folder(runs, name):
    """A folder name that does not overwrite an earlier run of the day."""
    folder, number = runs / name, 1
    while folder.exists():
        number += 1
        folder = runs / f"{name}-{number}"
    folder.mkdir(parents=True)
    return folder


def summary(results):
    figures, settings = Figures(results), results["settings"]
    parts = [f'# Benchmark {results["date"]}, {results["label"]}', intro(settings)]
    for mode in MODES:
        parts.append(throughput(figures, mode))
    parts += [part(figures) for part in (fairness, slow_clients, memory)]
    parts += [targets(figures), failures(figures)]
    return "\n\n".join(part for part in parts if part) + "\n"


def intro(settings):
    return (
        f'{settings["workers"]} workers, {settings["connections"]} connections, medians of {settings["rounds"]} '
        f'interleaved round(s) of {settings["seconds"]} s after {settings["warm_up_seconds"]} s of warm-up. '
        "Load generator and server share the machine: CPU per request is the figure that carries over. "
        "CPU: user + system time of all the server's processes. × peer: median of the ratios round by round. "
        "±: (highest − lowest) / median of req/s. Errors: of wrk, timeouts of 2 s included. "
        "Others: share of the machine's CPU taken by strangers to the test; above a few per cent, measure again."
    )


def throughput(figures, mode):
    header = ["scenario", "server", "req/s", "±", "p50 ms", "p99 ms", "CPU µs", "errors", "others", "req/s × peer", "CPU × peer"]
    rows = [
        [row.title, server, *throughput_cells(figures, row, server, mode)]
        for row in ROWS + EXTRA_ROWS if mode in row.modes for server in reported(figures, row.name, row.servers)
    ]
    return rows and f"## Throughput, {mode}\n\n" + table(header, rows)


def throughput_cells(figures, row, server, mode):
    if absent := figures.of(row.name, server).get("absent"):
        return [absent] + [""] * 8
    at = (row.name, server, mode)
    rps, p50, p99, cpu = (figures.median(*at, key) for key in ("rps", "p50_us", "p99_us", "cpu_us"))
    errors = figures.total(*at, "errors") + figures.total(*at, "non_2xx")
    return [
        shown("{:.0f}", rps), shown("{:.0%}", figures.spread(*at, "rps")),
        shown("{:.2f}", p50 and p50 / 1000), shown("{:.2f}", p99 and p99 / 1000),
        shown("{:.1f}", cpu), str(errors), shown("{:.0%}", figures.median(*at, "others")),
        *ratio_cells(figures, row, server, mode),
    ]


def ratio_cells(figures, row, server, mode):
    peer = row.servers[0]
    if server == peer:
        return ["", ""]
    return [shown("{:.2f}", figures.ratio(row.name, server, peer, mode, key)) for key in ("rps", "cpu_us")]


def fairness(figures):
    def cells(server):
        answered = figures.of("fairness", server)["answered"]
        return [str(min(answered)), f"{sum(answered) / len(answered):.0f}", str(max(answered)),
                str(answered.count(0)), shown("{:.2f}", figures.fairness(server))]
    header = ["server", "min", "mean", "max", "never served", "min / mean"]
    return by_server(figures, "fairness", "Fairness: responses per busy connection", header, cells)


def slow_clients(figures):
    def cells(server):
        def medians(what, form):
            return [shown(form, figures.median("slow_clients", server, key, what)) for key in ("without", "with")]
        return [*medians("rps", "{:.0f}"), shown("{:.1%}", figures.slow_clients_loss(server)), *medians("cpu_us", "{:.1f}")]
    header = ["server", "req/s without", "req/s with", "lost", "CPU µs without", "CPU µs with"]
    return by_server(figures, "slow_clients", "Slow clients beside 32 busy connections", header, cells)


def memory(figures):
    def cells(server):
        sizes = [figures.worker_kb(server, key) for key in ("private_kb", "pss_kb")]
        return [*(shown("{:.0f}", size) for size in sizes), shown("{:.2f}", figures.fork_ms(server))]
    header = ["server", "private kB", "Pss kB", "fork to ready ms"]
    return by_server(figures, "memory", f'A fresh worker, {", ".join(PRELOAD)} preloaded', header, cells)


def by_server(figures, scenario, title, header, cells):
    rows = []
    for server in reported(figures, scenario, OTHERS[scenario]):
        absent = figures.of(scenario, server).get("absent")
        rows.append([server, *([absent] + [""] * (len(header) - 2) if absent else cells(server))])
    return rows and f"## {title}\n\n" + table(header, rows)


def targets(figures):
    rows = [[target.text, *judge(target, figures)] for target in TARGETS]
    return "## Targets\n\n" + table(["target", "measured", "met?"], rows)


def failures(figures):
    rows = [
        [scenario, server, result["reason"].replace("\n", " ")]
        for scenario, servers in figures.scenarios.items()
        for server, result in servers.items() if result.get("absent") == "failed"
    ]
    return rows and "## Failures\n\n" + table(["scenario", "server", "reason"], rows)


def machine(results):
    settings = results["settings"]
    load = [" ".join(wrk.command("http://127.0.0.1:$PORT/...", settings["connections"], settings["seconds"], mode))
            for mode in MODES]
    heads = [f"{server}:\n" + "\n".join(f"    {line}" for line in head) for server, head in results["heads"].items()]
    return "\n\n".join([
        "# Machine and commands",
        table(["what", "value"], [[key, str(value)] for key, value in
                                  (results["machine"] | results["versions"] | settings).items()]),
        "## Load", code(load),
        "## Servers", code(f"{server}: {command}" for server, command in results["commands"].items()),
        "## Response headers", code(heads),
    ]) + "\n"


def reported(figures, scenario, servers):
    return [server for server in servers if server in figures.scenarios.get(scenario, {})]


def shown(format, value):
    return "n/a" if value is None else format.format(value)


def code(lines):
    return "```\n" + "\n".join(lines) + "\n```"


def table(header, rows):
    cells = [header, *rows]
    cells = [[cell.replace("|", "¦") for cell in row] for row in cells]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)
