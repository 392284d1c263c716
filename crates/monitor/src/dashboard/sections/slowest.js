// The slowest request of each path in the last minutes. Each opens the dialog with its Perl stacks.

import { byId, element } from "../element.js";
import { age, took } from "../format.js";
import { Table, minor, number } from "../table.js";
import { why } from "./why.js";

/** Number of requests shown. */
const SLOWEST = 12;

const name = (row) => [row.host, row.request].filter(Boolean).join(" ");

function button(row) {
  const made = element("button", name(row), "link", { row: `${row.host} ${row.request} ${row.ended_s}` });
  made.type = "button";
  made.title = "Show where the request spent its time";
  made.addEventListener("click", () => why(row.request));
  return made;
}

const table = new Table(byId("slow-table"), {
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
    minor({ key: "client", name: "Client", value: (r) => r.client ?? "", text: (r) => element("span", r.client ?? "") }),
    { key: "request", name: "Request", value: name, text: button, wide: true },
  ],
});

export const slowest = (rows) => table.show(rows.slice(0, SLOWEST));
