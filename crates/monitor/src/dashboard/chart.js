// A chart of values over time, as stacked areas or lines, in plain SVG. The chart is redrawn when there are new values.
// It shows the values below the pointer, and with the arrow keys those of each moment.

import { append } from "./element.js";
import { linear, logarithmic } from "./scale.js";

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 170;
const EDGE = { top: 10, right: 8, bottom: 20, left: 52 };

/** A new SVG element at the end of `parent`. */
function shape(parent, name, attributes = {}) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  parent.append(made);
  return made;
}

export class Chart {
  /** `series`: `{key, name, color}` from bottom to top; `format` formats a value; `stacked`: areas instead of lines;
   * `floor`: a logarithmic scale from this value on, each grid line ten times the one below. Response times differ by
   * orders of magnitude, and none is zero. */
  constructor(parent, { title, series, format, clock, stacked = false, least = 1, base = 1000, floor = 0 }) {
    Object.assign(this, { title, series, format, clock, stacked, least, base, floor, points: [], from: 0, to: 1, step: 1 });
    this.panel = append(parent, "article", "", "panel chart");
    append(append(this.panel, "div", "", "panel-head"), "h2", title);
    this.plot = append(this.panel, "div", "", "plot");
    this.svg = shape(this.plot, "svg", { role: "img", tabindex: "0" });
    this.tip = append(this.plot, "div", "", "tip");
    this.legend();
    this.listen();
  }

  legend() {
    const list = append(this.panel, "ul", "", "legend");
    this.values = this.series.map(({ name, color }) => {
      const item = append(list, "li");
      append(item, "i").style.background = `var(--${color})`;
      item.append(name);
      return append(item, "b", "–");
    });
  }

  listen() {
    this.svg.addEventListener("pointermove", (event) => this.pointAt(event.clientX - this.svg.getBoundingClientRect().left));
    this.svg.addEventListener("pointerleave", () => this.point(null));
    this.svg.addEventListener("blur", () => this.point(null));
    this.svg.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!by || !this.points.length) return;
      event.preventDefault();
      const last = this.points.length - 1;
      this.point(Math.min(last, Math.max(0, (this.pointed ?? last + (by > 0 ? 0 : 1)) + by)));
    });
    new ResizeObserver(() => this.draw()).observe(this.svg);
  }

  /** `points` from `from` to `to`, each for `step` seconds. */
  show(points, from, to, step) {
    Object.assign(this, { points, from, to, step });
    const last = points.at(-1);
    this.values.forEach((value, at) => (value.textContent = last ? this.format(last[this.series[at].key]) : "–"));
    this.draw();
  }

  x(time) {
    return EDGE.left + ((time - this.from) / (this.to - this.from)) * (this.width - EDGE.left - EDGE.right);
  }

  y(value) {
    if (this.floor) {
      const part = Math.log(Math.max(value, this.floor) / this.floor) / Math.log(this.most / this.floor);
      return HEIGHT - EDGE.bottom - part * (HEIGHT - EDGE.top - EDGE.bottom);
    }
    return HEIGHT - EDGE.bottom - (value / this.most) * (HEIGHT - EDGE.top - EDGE.bottom);
  }

  draw() {
    this.width = this.svg.clientWidth;
    if (!this.width) return;
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${HEIGHT}`);
    this.svg.replaceChildren();
    this.scale();
    this.grid();
    if (this.stacked) this.areas();
    else this.series.forEach(({ key, color }) => this.line((point) => point[key], color, (point) => !this.floor || point[key] > 0));
    this.cross = shape(this.svg, "line", { class: "cross", y1: EDGE.top, y2: HEIGHT - EDGE.bottom });
    this.svg.setAttribute("aria-label", this.described());
    if (this.pointed != null) this.point(Math.min(this.pointed, this.points.length - 1));
  }

  scale() {
    const sum = (point) => this.series.reduce((all, { key }) => all + point[key], 0);
    const highest = (point) => (this.stacked ? sum(point) : Math.max(...this.series.map(({ key }) => point[key])));
    const most = Math.max(this.least, ...this.points.map(highest));
    Object.assign(this, this.floor ? logarithmic(most, this.floor) : linear(most, this.base));
  }

  grid() {
    for (const value of this.ticks) {
      const y = Math.round(this.y(value));
      shape(this.svg, "line", { class: "grid", x1: EDGE.left, x2: this.width - EDGE.right, y1: y, y2: y });
      shape(this.svg, "text", { x: EDGE.left - 8, y: y + 4, "text-anchor": "end" }).textContent = value ? this.format(value) : "0";
    }
    const labels = this.width < 420 ? 3 : 4;
    for (let n = 0; n < labels; n += 1) {
      const time = this.from + ((this.to - this.from) * n) / (labels - 1);
      const anchor = n === 0 ? "start" : n === labels - 1 ? "end" : "middle";
      const text = shape(this.svg, "text", { x: this.x(time), y: HEIGHT - 4, "text-anchor": anchor });
      text.textContent = this.clock(time);
    }
    if (!this.points.length) {
      shape(this.svg, "text", { class: "empty", x: this.width / 2, y: HEIGHT / 2 }).textContent = "no data for this time";
    }
  }

  /** Splits the points into runs without gaps. Seconds without a record, or without a value to draw, are left blank. */
  runs(isDrawn = () => true) {
    const runs = [];
    let before = null;
    for (const point of this.points) {
      if (!isDrawn(point)) {
        before = null;
        continue;
      }
      if (!before || point.time - before.time > this.step * 2.5) runs.push([]);
      runs.at(-1).push(point);
      before = point;
    }
    return runs;
  }

  line(value, color, isDrawn) {
    for (const run of this.runs(isDrawn)) {
      const path = run.map((point) => `${this.x(point.time).toFixed(1)},${this.y(value(point)).toFixed(1)}`).join("L");
      const stroke = { fill: "none", "stroke-width": 1.6, "stroke-linejoin": "round", "stroke-linecap": "round" };
      shape(this.svg, "path", { d: `M${path}${run.length === 1 ? "h0.1" : ""}`, ...stroke }).style.stroke = `var(--${color})`;
    }
  }

  areas() {
    const below = new Map();
    for (const { key, color } of this.series) {
      for (const run of this.runs()) {
        const at = (point, value) => `${this.x(point.time).toFixed(1)},${this.y(value).toFixed(1)}`;
        const floor = run.map((point) => at(point, below.get(point.time) ?? 0)).reverse();
        run.forEach((point) => below.set(point.time, (below.get(point.time) ?? 0) + point[key]));
        const ceiling = run.map((point) => at(point, below.get(point.time)));
        const area = shape(this.svg, "path", { d: `M${ceiling.join("L")}L${floor.join("L")}Z` });
        area.style.fill = `color-mix(in srgb, var(--${color}) 62%, transparent)`;
      }
      // An area of height 0 gets no edge.
      this.line((point) => below.get(point.time), color, (point) => point[key] > 0);
    }
  }

  pointAt(x) {
    const time = this.from + ((x - EDGE.left) / (this.width - EDGE.left - EDGE.right)) * (this.to - this.from);
    let nearest = null;
    this.points.forEach((point, at) => {
      if (nearest == null || Math.abs(point.time - time) < Math.abs(this.points[nearest].time - time)) nearest = at;
    });
    this.point(nearest);
  }

  /** Shows the values of one point; without an argument hides them. */
  point(at) {
    this.pointed = at;
    const point = this.points[at];
    this.tip.style.visibility = point ? "visible" : "hidden";
    this.cross.style.visibility = point ? "visible" : "hidden";
    if (!point) return;
    const x = this.x(point.time);
    this.cross.setAttribute("x1", x);
    this.cross.setAttribute("x2", x);
    this.tip.replaceChildren();
    append(this.tip, "div", this.clock(point.time), "when");
    for (const { key, name } of [...this.series].reverse()) {
      const row = append(this.tip, "div");
      append(row, "span", name);
      append(row, "b", this.format(point[key]));
    }
    const left = x > this.width / 2 ? x - this.tip.offsetWidth - 8 : x + 28;
    this.tip.style.left = `${Math.max(4, left)}px`;
  }

  described() {
    const last = this.points.at(-1);
    if (!last) return `${this.title}: no data for this time`;
    const values = this.series.map(({ key, name }) => `${name} ${this.format(last[key])}`).join(", ");
    return `${this.title}, at ${this.clock(last.time)}: ${values}. Arrow keys show other moments.`;
  }
}
