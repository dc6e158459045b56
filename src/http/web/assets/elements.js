// Elements from plain values. Text is always set as text: nothing here, and nothing that uses it, reads markup.

/** An element with the given properties (`class`, `data-…`, `aria-…` and other attributes) and children. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/** The element of the page with this id. */
export const byId = (id) => document.getElementById(id);
