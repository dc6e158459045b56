// Drawings, made of elements as everything else is.

const SPACE = "http://www.w3.org/2000/svg";

/** An SVG element with the given attributes and children. */
export function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A small drawing of one line, which says nothing by itself. */
export const icon = (path) => svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", class: "drawn" }, svg("path", { d: path }));
