// Builds elements from plain values and from blocks of markup. Text is always set as text, never as markup.

/** Returns an element with the given attributes and children. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/** Returns the element of the page with this id. */
export const byId = (id) => document.getElementById(id);

/** Makes screen readers announce a text. */
export function announce(text) {
  const announcements = byId("announcements");
  announcements.append(element("p", {}, text));
  while (announcements.childElementCount > 5) announcements.firstChild.remove();
}

/** Shows whether the page has a connection, and announces when it is restored. */
export function showConnection(up, words) {
  const line = byId("connection");
  const was = line.classList.contains("lost");
  line.classList.toggle("lost", !up);
  if (!up) words.put(line, "reconnecting");
  else if (was) {
    words.clear(line);
    announce(words.say("reconnected"));
  }
}

/** Submits the field's form on Enter, except with Shift. While an input method composes a character, Enter belongs to it. */
export function submitOnEnter(field) {
  field.addEventListener("keydown", (event) => {
    const composing = event.isComposing || event.keyCode === 229;
    if (event.key !== "Enter" || event.shiftKey || composing) return;
    event.preventDefault();
    field.form.requestSubmit();
  });
}

/**
 * Shows the blocks in `parent`. Unchanged blocks keep their elements, so that a growing reply does not clear the reader's
 * selection. `shown` is the result of the previous call.
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
