// Blocks of markup as elements.

import { element } from "./elements.js";

/**
 * Shows the blocks in `parent`. Those that it shows already stay as they are, so that a reply which grows does not take
 * away what the reader has selected. `shown` is what the last call gave.
 */
export function render(parent, blocks, shown = []) {
  const written = blocks.map((block) => JSON.stringify(block));
  let same = 0;
  while (same < shown.length && shown[same] === written[same]) same += 1;
  while (parent.childNodes.length > same) parent.lastChild.remove();
  parent.append(...blocks.slice(same).map(block));
  return written;
}

function block({ kind, spans, items, start, text }) {
  switch (kind) {
    case "code":
      return element("pre", { tabindex: "0" }, element("code", {}, text));
    case "list": {
      const entries = items.map((item) => element("li", { dir: "auto" }, ...item.map(span)));
      return start === null ? element("ul", {}, ...entries) : element("ol", { start }, ...entries);
    }
    case "heading":
      return element("p", { class: "heading", dir: "auto" }, ...spans.map(span));
    default:
      return element("p", { dir: "auto" }, ...spans.map(span));
  }
}

function span(value) {
  if (typeof value === "string") return value;
  switch (value.kind) {
    case "bold":
      return element("strong", {}, ...value.spans.map(span));
    case "code":
      return element("code", {}, value.text);
    default:
      return element("a", { href: value.url, target: "_blank", rel: "noopener noreferrer" }, value.text);
  }
}
