// A table that is sorted by a click on a heading. Rows are replaced each second; sort order, selection and focus are
// retained.

import { append, element } from "./element.js";

/** A column of numbers, sorted by `value` and displayed by `text`. */
export const number = (key, name, value, text) => ({ key, name, value, text: (row) => text(value(row)), number: true });
/** A column that phones do not show. */
export const minor = (column) => ({ ...column, minor: true });

/** CSS classes of the column's kinds. */
function classes(kind) {
  return ["number", "wide", "minor"].filter((name) => kind[name]).join(" ");
}

export class Table {
  /** `columns`: `{key, name, value, text, number, wide, minor}`: `value` is sorted by, `text` (or an element) is
   * displayed. */
  constructor(table, { columns, sort, descending = false, none }) {
    Object.assign(this, { table, columns, sort, descending, none, rows: [], filter: "" });
    const head = table.createTHead().insertRow();
    for (const { key, name, number, minor } of columns) {
      const cell = append(head, "th", "", classes({ number, minor }), { key });
      cell.scope = "col";
      const button = append(cell, "button", name);
      button.type = "button";
      button.addEventListener("click", () => this.sortBy(key));
    }
    this.body = table.createTBody();
    this.draw();
  }

  /** A second click on the same heading reverses the order; numbers begin with the largest. */
  sortBy(key) {
    const column = this.columns.find((column) => column.key === key);
    this.descending = this.sort === key ? !this.descending : Boolean(column.number);
    this.sort = key;
    this.draw();
  }

  show(rows) {
    this.rows = rows;
    this.draw();
  }

  search(text) {
    this.filter = text.toLowerCase();
    this.draw();
  }

  draw() {
    for (const cell of this.table.tHead.rows[0].cells) {
      const order = this.descending ? "descending" : "ascending";
      cell.setAttribute("aria-sort", cell.dataset.key === this.sort ? order : "none");
    }
    const { value } = this.columns.find((column) => column.key === this.sort);
    const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0) * (this.descending ? -1 : 1);
    const shown = this.rows.map((row) => this.row(row)).filter(({ words }) => words.toLowerCase().includes(this.filter));
    shown.sort((a, b) => order(value(a.row), value(b.row)));
    const focused = this.body.contains(document.activeElement) ? document.activeElement.dataset.row : null;
    this.body.replaceChildren(...shown.map(({ line }) => line));
    if (focused != null) this.body.querySelector(`[data-row="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    if (!shown.length) this.empty();
  }

  row(row) {
    const line = element("tr");
    for (const { text, ...kind } of this.columns) {
      const cell = line.insertCell();
      cell.append(text(row));
      cell.className = classes(kind);
    }
    return { row, line, words: line.textContent };
  }

  empty() {
    const line = this.body.insertRow();
    line.className = "none";
    const cell = line.insertCell();
    cell.colSpan = this.columns.length;
    cell.textContent = this.rows.length ? "nothing matches the filter" : this.none;
  }
}
