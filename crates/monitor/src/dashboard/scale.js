// The vertical scale of a chart: its upper end, and the values of its grid lines.

/** Distance between grid lines: 1, 2 or 5 times a power of ten, in the largest unit that fits; each unit is `base` times
 * the one before. */
function niceStep(most, lines, base) {
  const unit = base ** Math.max(0, Math.floor(Math.log(most) / Math.log(base)));
  const rough = most / lines / unit;
  const power = 10 ** Math.floor(Math.log10(rough));
  return unit * [1, 2, 5, 10].map((n) => n * power).find((step) => step >= rough);
}

/** A scale from 0 to at least `most`. */
export function linear(most, base) {
  const step = niceStep(most, 3, base);
  const steps = Math.ceil(most / step);
  return { most: steps * step, ticks: Array.from({ length: steps + 1 }, (_, n) => n * step) };
}

/** A scale from `floor` to at least `most`, each grid line ten times the one below. */
export function logarithmic(most, floor) {
  const powers = Math.max(2, Math.ceil(Math.log10(most / floor)));
  const ticks = Array.from({ length: powers + 1 }, (_, power) => floor * 10 ** power);
  return { most: floor * 10 ** powers, ticks };
}
