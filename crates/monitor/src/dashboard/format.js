// Formats numbers, sizes and times for people. Their width does not change with their digits.

/** `0`, `0.3`, `12`, `1,234`, `12.3 k` */
export function count(value) {
  if (value >= 100000) return `${(value / 1000).toFixed(1)} k`;
  if (value > 0 && value < 10 && !Number.isInteger(value)) return value.toFixed(1);
  return Math.round(value).toLocaleString("en");
}

/** Formats microseconds: `850 µs`, `12.3 ms`, `2.50 s`, `3 min`; 0 is `–` */
export function took(us) {
  if (!us) return "–";
  if (us < 1000) return `${Math.round(us)} µs`;
  if (us < 1e6) return `${(us / 1000).toFixed(us < 1e5 ? 1 : 0)} ms`;
  if (us < 12e7) return `${(us / 1e6).toFixed(2)} s`;
  return `${Math.round(us / 6e7)} min`;
}

/** Formats kB: `812 kB`, `12.3 MB`, `1.2 GB` */
export function size(kb) {
  if (!kb) return "–";
  if (kb < 1024) return `${Math.round(kb)} kB`;
  if (kb < 1048576) return `${(kb / 1024).toFixed(kb < 102400 ? 1 : 0)} MB`;
  return `${(kb / 1048576).toFixed(1)} GB`;
}

/** Formats milliseconds: `450 ms`, `12 s`, `5 min`, `3 h`, `9 d` */
export function age(ms) {
  const s = Math.floor(ms / 1000);
  if (s < 1) return `${Math.round(ms)} ms`;
  if (s < 120) return `${s} s`;
  if (s < 7200) return `${Math.floor(s / 60)} min`;
  if (s < 172800) return `${Math.floor(s / 3600)} h`;
  return `${Math.floor(s / 86400)} d`;
}

const two = (number) => String(number).padStart(2, "0");

/** Formats seconds since 1970: `03:12:07`, with the day if more than one is shown */
export function clock(time, span) {
  const date = new Date(time * 1000);
  const day = span > 86400 ? `${two(date.getDate())}.${two(date.getMonth() + 1)}. ` : "";
  const seconds = span <= 3600 ? `:${two(date.getSeconds())}` : "";
  return `${day}${two(date.getHours())}:${two(date.getMinutes())}${seconds}`;
}
