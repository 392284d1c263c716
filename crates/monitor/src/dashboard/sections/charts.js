// The charts of the chosen range. Points come from the history, and while the range is live also from each status.

import { Chart } from "../chart.js";
import { byId } from "../element.js";
import { history } from "../feed.js";
import { clock } from "../format.js";
import { connection } from "./header.js";
import { MEASURES } from "./measures.js";
import { LIVE, bounds, isLive, now, onChoice, span } from "./range.js";

/** Approximate number of points in a chart. */
const POINTS = 300;
/** Interval in milliseconds after which a longer range is fetched again. */
const AGAIN = 10000;

const charts = MEASURES.map((measure) => new Chart(byId("charts"), { ...measure, clock: (time) => clock(time, span()) }));

let points = [];
let loads = 0;

const step = () => Math.max(1, Math.ceil(span() / POINTS));

/** The first minute of a new server fills the chart. */
function drawnBounds() {
  const [from, to] = bounds();
  const first = points[0]?.time ?? from;
  return isLive() ? [Math.max(from, Math.min(first, to - 60)), to] : [from, to];
}

/** Memory shared by workers is part of each of them; for the chart it is all memory minus the private memory. */
function withParts(point) {
  return { ...point, common_kb: Math.max(0, point.pss_kb - point.private_kb) };
}

function draw() {
  const [from, to] = drawnBounds();
  const drawn = points.filter((point) => point.time >= from && point.time <= to);
  charts.forEach((chart) => chart.show(drawn, from, to, step()));
}

async function load() {
  const number = ++loads;
  const [from, to] = bounds().map(Math.round);
  try {
    const loaded = await history(from, to, step());
    // The user has chosen another range meanwhile.
    if (number !== loads) return;
    const newer = isLive() ? points.filter((point) => point.time > (loaded.at(-1)?.time ?? 0)) : [];
    points = [...loaded.map(withParts), ...newer];
    draw();
  } catch (error) {
    connection("lost");
  }
}

/** Appends the point of a status to the live range. */
export function append(point) {
  if (!isLive()) return;
  // The history may already contain these points.
  const others = points.filter(({ time }) => time > now() - LIVE - 10 && time !== point.time);
  points = [...others, withParts(point)];
  draw();
}

onChoice(() => {
  points = [];
  load();
});
setInterval(() => isLive() || load(), AGAIN);
load();
