// Why workers ended.

import { byId, element } from "../element.js";
import { count } from "../format.js";
import { Table, number } from "../table.js";

/** Reasons for exits that are faults. */
export const FAULTS = ["request_timeout", "start_timeout", "slow_end", "unsound", "out_of_memory", "signal", "exit"];

const reason = ([name]) => element("span", name.replaceAll("_", " "), FAULTS.includes(name) ? "fault" : "");

const table = new Table(byId("exit-table"), {
  sort: "count",
  descending: true,
  none: "no worker has ended since the start",
  columns: [
    { key: "reason", name: "Reason", value: ([name]) => name, text: reason, wide: true },
    number("count", "Workers", ([, many]) => many, count),
  ],
});

/** `counts`: the number of exits by reason */
export const exits = (counts) => table.show(Object.entries(counts));
