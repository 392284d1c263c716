// The current values: requests, latency, workers, queue, memory, faults.

import { setText } from "../element.js";
import { count, size, took } from "../format.js";
import { FAULTS } from "./exits.js";

/** Shows the values of a status. */
export function tiles({ second, front, counts, memory, max_clients }) {
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
