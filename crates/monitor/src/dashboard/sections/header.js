// The head of the page: the server's name, and whether its events arrive.

import { byId } from "../element.js";
import { age } from "../format.js";

export function about(view) {
  const name = view.front?.name || view.listen[0] || "";
  byId("about").textContent = `${name} · ${view.version} · up ${age(view.uptime_ms)} · generation ${view.generation}`;
  document.title = `${name || "server"} · Cameleer`;
}

/** `state`: `live`, `lost` or `waiting` */
export function connection(state) {
  const words = { live: "live", lost: "no connection", waiting: "waiting" };
  if (byId("connection").dataset.state === state) return;
  byId("connection").dataset.state = state;
  byId("connection").textContent = words[state];
}
