// Perl stacks of slow requests of one path, as SlowLog has sampled them.

import { byId, element } from "../element.js";
import { slowRequests } from "../feed.js";
import { clock, took } from "../format.js";

/** Maximum number of requests shown, the latest. */
const SHOWN = 5;
const DAYS = 2 * 86400;

const dialog = byId("why");
const title = byId("why-title");
const body = byId("why-body");

/** Removes the query: `GET /page` of `GET /page?x=1` */
function withoutQuery(request) {
  return request.split("?")[0];
}

function frame({ code, name, file, line }) {
  return `${code === "operator" ? `(${name})` : name} at ${file} line ${line}`;
}

function stack({ looks, frames }, all) {
  const part = element("li");
  part.append(element("p", `${looks} of ${all} samples`, "hint"));
  const list = element("ol");
  list.append(...frames.map((place) => element("li", frame(place))));
  part.append(list);
  return part;
}

function one(slow) {
  const part = element("article");
  const state = slow.worker_ended ? ", until its worker ended" : slow.is_over ? "" : " so far";
  part.append(element("h3", `${clock(slow.received_us / 1e6, DAYS)}  ${slow.client ?? ""}  ${slow.method} ${slow.host}${slow.target}`));
  const times = [
    `${took(slow.took_ms * 1000)}${state}`,
    `in the queue ${took(slow.queued_ms * 1000)} before`,
    `CPU ${took(slow.cpu_ms * 1000)}`,
    `waiting ${took(Math.max(0, slow.took_ms - slow.cpu_ms) * 1000)}`,
    `memory ${slow.grown >= 0 ? "+" : ""}${Math.round(slow.grown / 1024)} kB`,
    `worker ${slow.worker}`,
  ];
  part.append(element("p", times.join(" · ")));
  if (slow.phases.length > 1) {
    part.append(element("p", slow.phases.map(({ phase, took_ms }) => `${phase} ${took(took_ms * 1000)}`).join(" · ")));
  }
  const stacks = element("ul");
  stacks.append(...slow.stacks.map((seen) => stack(seen, slow.looks)));
  part.append(stacks);
  return part;
}

function told({ after_ms, requests }, wanted) {
  if (after_ms == null) return [element("p", "Slow requests are not recorded, because SlowLog is off. `SlowLog 2s` in the configuration turns it on.")];
  const meant = requests.filter(({ method, target }) => withoutQuery(`${method} ${target}`) === wanted);
  if (meant.length) return meant.slice(0, SHOWN).map(one);
  return [element("p", `No recent slow request has this path. SlowLog records requests that take longer than ${took(after_ms * 1000)}.`)];
}

/** Shows the stacks of requests with the same path as this one, such as `GET /page?x=1`. */
export async function why(request) {
  const wanted = withoutQuery(request);
  title.textContent = wanted;
  body.replaceChildren(element("p", "…"));
  dialog.showModal();
  try {
    body.replaceChildren(...told(await slowRequests(), wanted));
  } catch (error) {
    body.replaceChildren(element("p", `Slow requests cannot be read: ${error.message}`));
  }
}

byId("why-close").addEventListener("click", () => dialog.close());
