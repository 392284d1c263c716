// The range of time that the charts show: the last seconds, or those around a moment.

import { byId } from "../element.js";

/** The live range, in seconds. */
export const LIVE = 300;

/** The range: the last `span` seconds, or those around `moment`. */
const chosen = { span: LIVE, moment: null };

export const now = () => Math.floor(Date.now() / 1000);
export const span = () => chosen.span;
export const isLive = () => chosen.span === LIVE && chosen.moment == null;

/** First and last second of the range, since 1970. */
export function bounds() {
  const to = chosen.moment == null ? now() : chosen.moment + chosen.span / 2;
  return [to - chosen.span, to];
}

/** Calls `changed` when the user has chosen another range. */
export function onChoice(changed) {
  const buttons = document.querySelectorAll("[data-range]");
  const choose = (span, moment) => {
    Object.assign(chosen, { span, moment });
    buttons.forEach((button) => {
      button.setAttribute("aria-pressed", String(moment == null && Number(button.dataset.range) === span));
    });
    if (moment == null) byId("moment").value = "";
    changed();
  };
  buttons.forEach((button) => button.addEventListener("click", () => choose(Number(button.dataset.range), null)));
  byId("moment").addEventListener("change", (event) => {
    const moment = Math.floor(new Date(event.target.value).getTime() / 1000);
    if (Number.isFinite(moment)) choose(LIVE * 2, moment);
  });
}
