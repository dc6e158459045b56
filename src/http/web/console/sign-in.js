// The sign-in form.

import { ask, memory, session, settings } from "./desk.js";
import { attempt, field, textElement } from "./parts.js";
import { element } from "../assets/render.js";
import { Refusal } from "../assets/request.js";

/** Shows the form in `place`, with an optional `notice`. Calls `onEntered` after the sign-in. */
export function signIn(place, notice, onEntered) {
  const key = element("input", { type: "password", name: "key", autocomplete: "current-password", required: true, spellcheck: "false" });
  const name = element("input", { type: "text", name: "name", autocomplete: "username", maxlength: "60" });
  name.value = memory.get("name") ?? "";
  const wrong = element("div", { id: "wrong-key" });
  const enter = textElement("button", "sign_in.enter", undefined, { type: "submit", class: "button strong" });
  const heading = textElement("h1", "sign_in.heading", undefined, { tabindex: "-1" });
  const form = element(
    "form",
    { class: "sign-in card", novalidate: true },
    heading,
    textElement("p", notice ?? "sign_in.about", undefined, { class: "quiet", role: "status" }),
    // Password managers expect a name field before the password.
    field("sign_in.name", name, "sign_in.name_hint"),
    field("sign_in.key", key, "sign_in.key_hint"),
    wrong,
    enter,
  );
  const refuse = (words) => {
    wrong.replaceChildren(textElement("p", words, undefined, { class: "failure", role: "alert" }));
    key.setAttribute("aria-invalid", "true");
    key.setAttribute("aria-describedby", wrong.id);
    key.focus();
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!key.value.trim()) return refuse("sign_in.no_key");
    await attempt(enter, wrong, async () => {
      try {
        await ask("POST", "/console/session", { key: key.value.trim(), name: name.value.trim() || undefined });
      } catch (error) {
        if (error instanceof Refusal && error.status === 401) return refuse("sign_in.wrong_key");
        throw error;
      }
      session.me = await ask("GET", "/console/api/me");
      memory.set("name", name.value.trim() || undefined);
      onEntered();
    });
  });
  place.className = "outside";
  place.replaceChildren(element("div", { class: "door" }, element("p", { class: "shop" }, settings.name), form));
  if (notice) heading.focus();
  else (name.value ? key : name).focus();
}
