// The table of workers, its filter, and what is open in event pools.

import { byId, element, setText } from "../element.js";
import { age, count, size, took } from "../format.js";
import { Table, minor, number } from "../table.js";

const WORDS = { S: "starting", _: "idle", W: "busy", L: "logging", G: "finishing", I: "leaving", ".": "gone" };

function request(worker) {
  const [shown, over] = worker.request ? [worker.request, ""] : [worker.last_request ?? "", "over"];
  const pool = worker.pool ? `[${worker.pool}]` : "";
  return element("span", [pool, worker.host, shown].filter(Boolean).join(" "), over);
}

const table = new Table(byId("worker-table"), {
  sort: "slot",
  none: "no workers",
  columns: [
    number("slot", "Worker", (w) => w.slot, String),
    {
      key: "state",
      name: "State",
      value: (w) => WORDS[w.activity],
      text: (w) => element("span", WORDS[w.activity], "state", { state: w.activity }),
    },
    number("since", "Since", (w) => w.since_ms, age),
    minor(number("pid", "Pid", (w) => w.pid, String)),
    minor(number("generation", "Gen", (w) => w.generation, String)),
    minor(number("requests", "Requests", (w) => w.requests, count)),
    number("private", "Private", (w) => (w.private_bytes ?? 0) / 1024, size),
    minor(number("cpu", "CPU", (w) => w.cpu_ms ?? 0, age)),
    minor(number("waited", "Waited", (w) => w.queue_wait_us ?? 0, took)),
    minor({ key: "client", name: "Client", value: (w) => w.client ?? "", text: (w) => element("span", w.client ?? "") }),
    { key: "request", name: "Request", value: (w) => `${w.host} ${w.request || w.last_request}`, text: request, wide: true },
  ],
});

byId("worker-filter").addEventListener("input", (event) => table.search(event.target.value));

/** Open requests and connections of event workers, and held responses, by kind. */
function open({ workers, broadcast }) {
  const held = (broadcast?.held_streams ?? 0) + (broadcast?.held_responses ?? 0);
  const kinds = { http: 0, websocket: 0, sse: 0, held };
  for (const { streams } of workers) for (const kind in streams) kinds[kind] += streams[kind];
  const shown = Object.entries(kinds).filter(([, number]) => number).map(([kind, number]) => `${count(number)} ${kind}`);
  return shown.length ? `open: ${shown.join(", ")}` : "";
}

/** Shows the workers of a status' front, if there is one. */
export function workers(front) {
  table.show(front?.workers ?? []);
  setText("open-kinds", front ? open(front) : "");
}
