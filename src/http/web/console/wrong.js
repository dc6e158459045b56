// "This was wrong": the exchange becomes a case, which `frontdesk eval conversations` asks again later.

import { announce, ask } from "./desk.js";
import { attempt, button, dialog, field, said } from "./parts.js";
import { element } from "../assets/elements.js";

/** Asks what was wrong with the reply of this turn, and stores it. */
export function wrong(conversation, turn) {
  const note = element("textarea", { rows: "3", dir: "auto" });
  const expected = element("textarea", { rows: "2", dir: "auto" });
  const trouble = element("div");
  const store = said("button", "wrong.store", undefined, { type: "submit", class: "button strong" });
  const cancel = button("cancel", () => asked.close());
  const form = element(
    "form",
    { novalidate: true },
    said("p", "wrong.about", undefined, { class: "quiet" }),
    field("wrong.note", note, "wrong.note_hint"),
    field("wrong.expected", expected, "wrong.expected_hint"),
    trouble,
    element("div", { class: "actions" }, cancel, store),
  );
  const asked = dialog("wrong.title", undefined, form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await attempt(store, trouble, async () => {
      const path = `/console/api/conversations/${encodeURIComponent(conversation)}/turns/${turn}/wrong`;
      const body = { note: note.value.trim() || undefined, expected: expected.value.trim() || undefined };
      const { case: file } = await ask("POST", path, body);
      const done = button("done", () => asked.close(), { class: "button strong" });
      form.replaceChildren(said("p", "wrong.stored"), element("p", {}, element("code", {}, file)), said("p", "wrong.stored_hint", undefined, { class: "quiet" }), element("div", { class: "actions" }, done));
      announce("wrong.stored");
      done.focus();
    });
  });
}
