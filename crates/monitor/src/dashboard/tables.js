// The tables of the dashboard, and their columns.

import { age, count, size, took } from "./format.js";
import { Table, marked } from "./table.js";

const WORDS = { S: "starting", _: "idle", W: "busy", L: "logging", G: "finishing", I: "leaving", ".": "gone" };
/** Reasons for exits that are faults. */
export const FAULTS = ["request_timeout", "start_timeout", "slow_end", "unsound", "out_of_memory", "signal", "exit"];

const number = (key, name, value, text) => ({ key, name, value, text: (row) => text(value(row)), number: true });
const minor = (column) => ({ ...column, minor: true });
const word = (key, name, value) => ({ key, name, value, text: value });

function request(worker) {
  const [shown, over] = worker.request ? [worker.request, ""] : [worker.last_request ?? "", "over"];
  const pool = worker.pool ? `[${worker.pool}]` : "";
  const text = [pool, worker.host, shown].filter(Boolean).join(" ");
  return marked(text, over);
}

export function workerTable(table) {
  return new Table(table, {
    sort: "slot",
    none: "no workers",
    columns: [
      number("slot", "Worker", (w) => w.slot, String),
      {
        key: "state",
        name: "State",
        value: (w) => WORDS[w.activity],
        text: (w) => marked(WORDS[w.activity], "state", { state: w.activity }),
      },
      number("since", "Since", (w) => w.since_ms, age),
      minor(number("pid", "Pid", (w) => w.pid, String)),
      minor(number("generation", "Gen", (w) => w.generation, String)),
      minor(number("requests", "Requests", (w) => w.requests, count)),
      number("private", "Private", (w) => (w.private_bytes ?? 0) / 1024, size),
      minor(number("cpu", "CPU", (w) => w.cpu_ms ?? 0, age)),
      minor(number("waited", "Waited", (w) => w.queue_wait_us ?? 0, took)),
      { key: "request", name: "Request", value: (w) => `${w.host} ${w.request || w.last_request}`, text: request, wide: true },
    ],
  });
}

/** A button with a request, which opens its Perl stacks. */
function opens(row, open) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "link";
  button.dataset.row = `${row.host} ${row.request} ${row.ended_s}`;
  button.title = "Show where the request spent its time";
  button.textContent = [row.host, row.request].filter(Boolean).join(" ");
  button.addEventListener("click", () => open(row.request));
  return button;
}

/** `why` is called with the request of a selected row. */
export function slowTable(table, why) {
  return new Table(table, {
    sort: "took",
    descending: true,
    none: "no requests to workers in the last minutes",
    columns: [
      number("took", "Took", (r) => r.waited_us + r.served_us, took),
      minor(number("waited", "Waited", (r) => r.waited_us, took)),
      minor(number("served", "Worked", (r) => r.served_us, took)),
      number("status", "Status", (r) => r.status, String),
      minor(number("worker", "Worker", (r) => r.worker, String)),
      number("ago", "Ago", (r) => Math.max(0, Date.now() - r.ended_s * 1000), age),
      {
        key: "request",
        name: "Request",
        value: (r) => [r.host, r.request].filter(Boolean).join(" "),
        text: (r) => opens(r, why),
        wide: true,
      },
    ],
  });
}

export function exitTable(table) {
  const reason = ([name]) => marked(name.replaceAll("_", " "), FAULTS.includes(name) ? "fault" : "");
  return new Table(table, {
    sort: "count",
    descending: true,
    none: "no worker has ended since the start",
    columns: [
      { key: "reason", name: "Reason", value: ([name]) => name, text: reason, wide: true },
      number("count", "Workers", ([, many]) => many, count),
    ],
  });
}

export function codeTable(table) {
  return new Table(table, {
    sort: "count",
    descending: true,
    none: "no responses yet",
    columns: [
      { ...word("code", "Status", ([code]) => code), wide: true },
      number("count", "Answers", ([, many]) => many, count),
    ],
  });
}
