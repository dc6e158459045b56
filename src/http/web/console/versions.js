// Earlier texts of a persona: looked at, and brought back.

import { attempt, badge, button, dialog, failure, labelled, loading, said } from "./parts.js";
import { ask, words } from "./desk.js";
import { element } from "../assets/elements.js";

/** Shows the list in `place`. `restore(text)` brings a text back. */
export function versions(place, kept, path, restore) {
  const rows = kept.map(({ version, saved_at: saved, saved_by: by, current }) => {
    const about = element("span", { class: "row-more" }, words.time(saved));
    if (by) about.append(element("span", { dir: "auto" }, by));
    const look = () => button("versions.look", () => open(version, path(version), restore), { values: { version: String(version) } });
    const mark = current ? badge("versions.current", "bot") : labelled(look(), "versions.look_at");
    return element("li", {}, element("div", {}, said("strong", "versions.version", { version: String(version) }), about), mark);
  });
  const list = rows.length ? element("ul", { class: "versions" }, ...rows) : said("p", "versions.none", undefined, { class: "quiet" });
  place.replaceChildren(said("h2", "versions.title"), list);
}

async function open(version, path, restore) {
  const trouble = element("div");
  const shown = element("div", {}, loading());
  const cancel = button("cancel", () => asked.close());
  const actions = element("div", { class: "actions" }, cancel);
  const asked = dialog("versions.version", { version: String(version) }, shown, trouble, actions);
  try {
    const { text } = await ask("GET", path);
    shown.replaceChildren(element("pre", { tabindex: "0" }, element("code", { dir: "auto" }, text)));
    const bringBack = button(
      "versions.restore",
      async () => {
        if (await attempt(bringBack, trouble, () => restore(text))) asked.close();
      },
      { class: "button strong" },
    );
    actions.append(bringBack);
  } catch (error) {
    shown.replaceChildren(failure(error));
  }
}
