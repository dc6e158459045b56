// Where the customer writes. What is written is kept until it is sent.

import { byId } from "./elements.js";

/** Wires the field. `onSend(text)` gets a text that may be sent. */
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
    field.value = "";
    changed();
    onSend(text);
  });
  field.addEventListener("keydown", (event) => {
    // While an input method composes a letter, Enter is a part of that.
    const composing = event.isComposing || event.keyCode === 229;
    if (event.key !== "Enter" || event.shiftKey || composing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  field.addEventListener("input", changed);
  addEventListener("resize", () => fit(field));
  // What was typed before this script was there stays.
  field.value ||= memory.get("draft") ?? "";
  changed();

  return {
    focus: () => field.focus(),
    /** Puts a text that could not be sent back, before what has been written since. */
    restore(text) {
      field.value = [text, field.value].filter(Boolean).join("\n");
      changed();
    },
  };
}

// As high as its text, up to what the style sheet allows.
function fit(field) {
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight + field.offsetHeight - field.clientHeight}px`;
}
