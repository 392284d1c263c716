// The page: passes each status to the sections.

import { follow } from "./feed.js";
import { append } from "./sections/charts.js";
import { codes } from "./sections/codes.js";
import { exits } from "./sections/exits.js";
import { about, connection } from "./sections/header.js";
import { slowest } from "./sections/slowest.js";
import { tiles } from "./sections/tiles.js";
import { workers } from "./sections/workers.js";

function show(view) {
  about(view);
  tiles(view);
  workers(view.front);
  slowest(view.front?.slowest ?? []);
  exits(view.counts.exits);
  codes(view.front?.codes ?? {});
  append(view.second);
}

follow(show, connection);
