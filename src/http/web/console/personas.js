// The list of personas, and the editor of one.

import { ask } from "./desk.js";
import { Editor } from "./editor.js";
import { badge, empty, fill, head } from "./parts.js";
import { element } from "../assets/render.js";

// Unsaved texts, by persona.
const drafts = new Map();

export function personas() {
  const view = element("div", { class: "column" });
  let editor;
  const overview = () => {
    const list = element("div");
    view.replaceChildren(head("personas.title", "personas.about"), list);
    fill(list, async () => listed((await ask("GET", "/console/api/personas")).personas));
    return view.querySelector("h1");
  };
  const leave = () => {
    editor?.close();
    editor = undefined;
  };
  return {
    element: view,
    show([id]) {
      leave();
      if (!id) return overview();
      editor = new Editor(id, drafts);
      view.replaceChildren(editor.element);
      return editor.heading;
    },
    close: leave,
  };
}

function listed(all) {
  if (!all.length) return [empty("personas.empty", "personas.empty_hint")];
  const rows = all.map(({ id, name, desk, languages, default: isDefault }) => {
    const about = element("span", { class: "row-more" }, ...(isDefault ? [badge("personas.default", "bot")] : []), element("span", {}, `${desk} · ${languages.join(", ")}`));
    const link = element("a", { class: "row", href: `#/personas/${encodeURIComponent(id)}` }, element("strong", { dir: "auto" }, name), element("span", { class: "row-text" }, `${id}.md`), about);
    return element("li", {}, link);
  });
  return [element("ul", { class: "rows card" }, ...rows)];
}
