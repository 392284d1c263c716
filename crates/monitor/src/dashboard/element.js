// Elements of the page.

export const byId = (id) => document.getElementById(id);

/** A new element with a text, CSS classes and data attributes. */
export function element(name, text = "", className = "", data = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  Object.assign(made.dataset, data);
  return made;
}

/** A new element at the end of `parent`. */
export function append(parent, ...of) {
  const made = element(...of);
  parent.append(made);
  return made;
}

/** Replaces the text of an element. `level` colours it: `bad` or `warn`. */
export function setText(id, text, level = "") {
  byId(id).textContent = text;
  byId(id).dataset.level = level;
}
