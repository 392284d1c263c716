// Responses by status.

import { byId } from "../element.js";
import { count } from "../format.js";
import { Table, number } from "../table.js";

const code = ([code]) => code;

const table = new Table(byId("code-table"), {
  sort: "count",
  descending: true,
  none: "no responses yet",
  columns: [
    { key: "code", name: "Status", value: code, text: code, wide: true },
    number("count", "Answers", ([, many]) => many, count),
  ],
});

/** `counts`: the number of responses by status */
export const codes = (counts) => table.show(Object.entries(counts));
