// What each chart shows.

import { count, size, took } from "../format.js";

const series = (...rows) => rows.map(([key, name, color]) => ({ key, name, color: color ?? key }));

/** Options of each chart, in the order of the page. */
export const MEASURES = [
  {
    title: "Requests per second",
    format: count,
    stacked: true,
    series: series(["ok", "2xx"], ["redirects", "3xx", "redirect"], ["client_errors", "4xx", "client"], ["server_errors", "5xx", "server"]),
  },
  {
    title: "Latency",
    format: took,
    floor: 100,
    series: series(["p50_us", "p50", "p50"], ["p90_us", "p90", "p90"], ["p99_us", "p99", "p99"]),
  },
  {
    title: "Workers",
    format: count,
    stacked: true,
    least: 2,
    series: series(["busy", "busy"], ["starting", "starting"], ["retiring", "leaving"], ["idle", "idle"]),
  },
  {
    title: "Queue",
    format: count,
    least: 4,
    series: series(["queued", "waiting"], ["shed", "shed per second"]),
  },
  {
    title: "Memory",
    format: size,
    stacked: true,
    least: 1024,
    base: 1024,
    series: series(["private_kb", "private to workers", "private"], ["common_kb", "other memory, shared pages once", "shared"]),
  },
  {
    title: "Ended workers",
    format: count,
    least: 4,
    series: series(["exits", "all", "ended"], ["faults", "faults", "fault"]),
  },
];
