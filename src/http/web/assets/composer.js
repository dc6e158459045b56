// The field for the customer's message. A draft is stored until it is sent.

import { byId, submitOnEnter } from "./render.js";

/** Sets up the field. Calls `onSend(text)` with a valid text. */
export function compose(memory, words, maxChars, onSend) {
  const [form, field, send, hint] = ["composer", "text", "send", "hint"].map(byId);

  const changed = () => {
    const count = [...field.value.trim()].length;
    const tooLong = count > maxChars;
    memory.set("draft", field.value || undefined);
    if (tooLong) words.put(hint, "too_long", { count, max: maxChars });
    else words.clear(hint);
    field.setAttribute("aria-invalid", String(tooLong));
    send.setAttribute("aria-disabled", String(tooLong || count === 0));
    fit(field);
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = field.value.trim();
    const ready = send.getAttribute("aria-disabled") !== "true";
    field.focus();
    if (!ready || !text) return;
    // Cleared last, so that an error does not lose the text.
    onSend(text);
    field.value = "";
    changed();
  });
  submitOnEnter(field);
  field.addEventListener("input", changed);
  addEventListener("resize", () => fit(field));
  // Keep text that was typed before the script loaded.
  field.value ||= memory.get("draft") ?? "";
  changed();

  return { focus: () => field.focus() };
}

// Makes the field as high as its text, up to the limit in the style sheet.
function fit(field) {
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight + field.offsetHeight - field.clientHeight}px`;
}
