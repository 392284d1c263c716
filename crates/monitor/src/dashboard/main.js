// The page: shows the status and the history.

import { charts } from "./charts.js";
import { follow, history } from "./feed.js";
import { age, clock, count, size, took } from "./format.js";
import { FAULTS, codeTable, exitTable, slowTable, workerTable } from "./tables.js";
import { why } from "./why.js";

/** The live range, in seconds. */
const LIVE = 300;
/** Approximate number of points in a chart. */
const POINTS = 300;
/** Number of slow requests shown. */
const SLOWEST = 12;
/** Interval in milliseconds after which a longer range is fetched again. */
const AGAIN = 10000;

const byId = (id) => document.getElementById(id);
const now = () => Math.floor(Date.now() / 1000);

/** The displayed range: the last `span` seconds, or those around `moment`. */
const shown = { span: LIVE, moment: null, points: [], asked: 0 };

const drawn = charts(byId("charts"), (time) => clock(time, shown.span));
const tables = {
  workers: workerTable(byId("worker-table")),
  slow: slowTable(byId("slow-table"), why),
  exits: exitTable(byId("exit-table")),
  codes: codeTable(byId("code-table")),
};

const isLive = () => shown.span === LIVE && shown.moment == null;
const step = () => Math.max(1, Math.ceil(shown.span / POINTS));

function range() {
  const to = shown.moment == null ? now() : shown.moment + shown.span / 2;
  return [to - shown.span, to];
}

/** The first minute of a new server fills the chart. */
function drawnRange() {
  const [from, to] = range();
  const first = shown.points[0]?.time ?? from;
  return isLive() ? [Math.max(from, Math.min(first, to - 60)), to] : [from, to];
}

/** Memory shared by workers is part of each of them; for the chart it is all memory minus the private memory. */
function withParts(point) {
  return { ...point, common_kb: Math.max(0, point.pss_kb - point.private_kb) };
}

function drawCharts() {
  const [from, to] = drawnRange();
  const points = shown.points.filter((point) => point.time >= from && point.time <= to);
  drawn.forEach((chart) => chart.show(points, from, to, step()));
}

async function load() {
  const asked = ++shown.asked;
  const [from, to] = range().map(Math.round);
  try {
    const points = await history(from, to, step());
    // The user has chosen another range meanwhile.
    if (asked !== shown.asked) return;
    const newer = isLive() ? shown.points.filter((point) => point.time > (points.at(-1)?.time ?? 0)) : [];
    shown.points = [...points.map(withParts), ...newer];
    drawCharts();
  } catch (error) {
    connection("lost");
  }
}

function choose(span, moment) {
  Object.assign(shown, { span, moment, points: [] });
  document.querySelectorAll("[data-range]").forEach((button) => {
    button.setAttribute("aria-pressed", String(moment == null && Number(button.dataset.range) === span));
  });
  if (moment == null) byId("moment").value = "";
  load();
}

function setText(id, text, level = "") {
  byId(id).textContent = text || "\u00a0";
  byId(id).dataset.level = level;
}

function tiles({ second, front, counts, memory, max_clients }) {
  const requests = second.ok + second.redirects + second.client_errors + second.server_errors;
  setText("now-requests", count(requests));
  setText("now-errors", second.server_errors ? `${count(second.server_errors)} × 5xx` : "no 5xx", second.server_errors ? "bad" : "");
  setText("now-p99", took(second.p99_us));
  setText("now-p50", `p50 ${took(second.p50_us)}`);
  setText("now-busy", count(second.busy));
  setText("now-workers", `of ${front?.workers.length ?? 0}`);
  setText("now-starting", `at most ${count(max_clients)}`);
  setText("now-queued", count(second.queued));
  setText("now-shed", second.shed ? `${count(second.shed)} shed per second` : "none shed", second.shed ? "bad" : "");
  setText("now-memory", size(second.pss_kb));
  setText("now-budget", memory.budget ? `of ${size(memory.budget / 1024)}` : "no budget");
  const faults = FAULTS.reduce((sum, reason) => sum + (counts.exits[reason] ?? 0), 0);
  setText("now-faults", count(faults));
  const reloads = counts.reloads + counts.failed_reloads;
  const failed = counts.failed_reloads ? `, ${count(counts.failed_reloads)} failed` : "";
  setText("now-reloads", `${count(reloads)} reloads${failed}`, counts.failed_reloads ? "warn" : "");
}

function about(view) {
  const name = view.front?.name || view.listen[0] || "";
  byId("about").textContent = `${name} · ${view.version} · up ${age(view.uptime_ms)} · generation ${view.generation}`;
  document.title = `${name || "server"} · Cameleer`;
}

function show(view) {
  about(view);
  tiles(view);
  tables.workers.show(view.front?.workers ?? []);
  tables.slow.show((view.front?.slowest ?? []).slice(0, SLOWEST));
  tables.exits.show(Object.entries(view.counts.exits));
  tables.codes.show(Object.entries(view.front?.codes ?? {}));
  if (isLive()) {
    // The history may already contain these points.
    const others = shown.points.filter(({ time }) => time > now() - LIVE - 10 && time !== view.second.time);
    shown.points = [...others, withParts(view.second)];
    drawCharts();
  }
}

function connection(state) {
  const words = { live: "live", lost: "no connection", waiting: "waiting" };
  if (byId("connection").dataset.state === state) return;
  byId("connection").dataset.state = state;
  byId("connection").textContent = words[state];
}

document.querySelectorAll("[data-range]").forEach((button) => {
  button.addEventListener("click", () => choose(Number(button.dataset.range), null));
});
byId("moment").addEventListener("change", (event) => {
  const moment = Math.floor(new Date(event.target.value).getTime() / 1000);
  if (Number.isFinite(moment)) choose(LIVE * 2, moment);
});
byId("worker-filter").addEventListener("input", (event) => tables.workers.search(event.target.value));
setInterval(() => isLive() || load(), AGAIN);
load();
follow(show, connection);
