// Source of the numbers: events each second, and the history for earlier times.

/** Calls `view` with the status of each second, and `state` with the state of the connection. */
export function follow(view, state) {
  const events = new EventSource("events");
  events.onopen = () => state("live");
  events.onerror = () => state("lost");
  events.onmessage = (event) => {
    state("live");
    view(JSON.parse(event.data));
  };
}

/** The points from `from` to `to`, in seconds since 1970, each for `step` seconds. */
export async function history(from, to, step) {
  const answer = await fetch(`history.json?from=${from}&to=${to}&step=${step}`);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

/** `{after_ms, requests}`: SlowLog (null: off), and the last requests that took longer, newest first. */
export async function slowRequests() {
  const answer = await fetch("slow.json");
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}
