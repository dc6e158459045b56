// The editor of one persona's text. It checks the text while it is written, shows a preview, and saves only a valid text.

import { allow, announce, ask, words } from "./desk.js";
import { parse } from "../assets/markup.js";
import { attempt, badge, button, dialog, enable, failure, labelled, loading, problem, textElement } from "./parts.js";
import { element, render } from "../assets/render.js";

// How long to wait after the last key before checking the text.
const TYPING_MS = 400;

// A text as the chat page shows it.
function bubble(kind, language, text) {
  const made = element("div", { class: kind, lang: language });
  render(made, parse(text, allow));
  return made;
}

export class Editor {
  #id;
  #drafts;
  #saved = "";
  // The hashes of the file now, and of the text that the editor started from.
  #newest;
  #hash;
  #typing;
  #checking = 0;
  #valid = false;
  #state = element("p", { class: "check", role: "status" });
  #trouble = element("div");
  #preview = element("div", { class: "greetings" });
  #versions = element("section", { class: "card" });
  #save = button("personas.save", () => this.#store(), { class: "button strong" });
  #undo = button("personas.undo", () => {
    this.#hash = this.#newest;
    this.#write(this.#saved);
  });

  constructor(id, drafts) {
    this.#id = id;
    this.#drafts = drafts;
    this.heading = element("h1", { tabindex: "-1" }, id);
    this.field = labelled(element("textarea", { class: "source", spellcheck: "false", dir: "auto", rows: "28" }), "personas.text");
    this.field.addEventListener("input", () => this.#changed());
    const back = element("a", { href: "#/personas", class: "back-link" });
    words.put(back, "personas.all");
    this.body = element("div", {}, loading());
    this.element = element("div", {}, back, element("header", { class: "head" }, this.heading), this.body);
    this.onLeave = (event) => this.#isChanged() && event.preventDefault();
    addEventListener("beforeunload", this.onLeave);
    this.#open();
  }

  close() {
    clearTimeout(this.#typing);
    this.#checking += 1;
    removeEventListener("beforeunload", this.onLeave);
    // The hash stays with the draft, so that saving it over a newer text is a conflict.
    if (this.#isChanged()) this.#drafts.set(this.#id, { text: this.field.value, hash: this.#hash });
    else if (this.#hash !== undefined) this.#drafts.delete(this.#id);
  }

  get #path() {
    return `/console/api/personas/${encodeURIComponent(this.#id)}`;
  }

  #isChanged() {
    return this.#hash !== undefined && this.field.value !== this.#saved;
  }

  async #open() {
    try {
      this.#take(await ask("GET", this.#path));
    } catch (error) {
      this.body.replaceChildren(failure(error, () => this.#open()));
      return;
    }
    const left = element("div", { class: "writing" }, this.field, this.#state, this.#trouble, element("div", { class: "actions" }, this.#undo, this.#save));
    const right = element("div", { class: "aside" }, element("section", { class: "card" }, textElement("h2", "personas.preview"), this.#preview), this.#versions);
    this.body.className = "editor";
    this.body.replaceChildren(left, right);
    const draft = this.#drafts.get(this.#id);
    if (draft) this.#hash = draft.hash;
    this.#write(draft?.text ?? this.#saved);
  }

  // Takes over the file's text and versions.
  #take({ text, hash, versions: kept }) {
    // As a textarea normalizes it.
    this.#saved = text.replace(/\r\n?/g, "\n");
    this.#newest = this.#hash = hash;
    const restore = async (version) => {
      if (await this.#put(version)) announce("personas.restored");
    };
    versions(this.#versions, kept, (version) => `${this.#path}/versions/${version}`, restore);
  }

  #write(text) {
    this.field.value = text;
    this.#changed(0);
  }

  #changed(wait = TYPING_MS) {
    this.#valid = false;
    this.#offer();
    clearTimeout(this.#typing);
    this.#typing = setTimeout(() => this.#check(), wait);
  }

  #offer() {
    enable(this.#save, this.#valid && this.#isChanged());
    enable(this.#undo, this.#isChanged());
  }

  async #check() {
    const mine = ++this.#checking;
    try {
      const found = await ask("POST", `${this.#path}/check`, { text: this.field.value });
      if (mine !== this.#checking) return;
      this.#valid = found.valid;
      this.#state.className = found.valid ? "check" : "check invalid";
      this.field.setAttribute("aria-invalid", String(!found.valid));
      if (found.valid) this.#show(found);
      else {
        words.clear(this.#state);
        const where = found.line ? [textElement("strong", "personas.line", { line: String(found.line) }), " "] : [];
        this.#state.replaceChildren(...where, problem(`persona_problem.${found.code}`, found.problem));
      }
      this.#offer();
    } catch (error) {
      if (mine === this.#checking) this.#state.replaceChildren(failure(error, () => this.#check()));
    }
  }

  #show({ name, greetings = {}, follow_ups: followUps = {} }) {
    words.put(this.#state, this.#isChanged() ? "personas.can_save" : "personas.is_saved");
    // The reader's language first.
    const ordered = Object.entries(greetings).sort(([one], [other]) => (other === words.language) - (one === words.language));
    const bubbles = ordered.flatMap(([language, greeting]) => [
      element("p", { class: "by" }, element("strong", { dir: "auto" }, name), element("span", {}, language)),
      bubble("bubble", language, greeting),
      ...(followUps[language] ? [bubble("bubble follow-up", language, followUps[language])] : []),
    ]);
    this.#preview.replaceChildren(...bubbles);
    this.heading.textContent = `${name} (${this.#id})`;
  }

  async #store() {
    let saved = false;
    await attempt(this.#save, this.#trouble, async () => {
      saved = await this.#put(this.field.value);
    });
    if (saved) announce("personas.is_saved");
    this.#offer();
  }

  // Returns whether the text was saved. If someone else saved first, asks which text to keep.
  async #put(text) {
    const before = this.field.value;
    try {
      this.#take(await ask("PUT", this.#path, { text, hash: this.#hash }));
    } catch (error) {
      if (error.status !== 409) throw error;
      await this.#conflict(text);
      return false;
    }
    // Text typed during the request stays, unsaved.
    if (this.field.value === before) this.#write(this.#saved);
    else this.#changed();
    return true;
  }

  // Someone else has changed the file: asks which text to keep.
  async #conflict(mine) {
    const theirs = await ask("GET", this.#path);
    const takeTheirs = button("personas.take_theirs", () => {
      this.#take(theirs);
      this.#write(this.#saved);
      asked.close();
    });
    const trouble = element("div");
    const putMine = async () => {
      this.#take(theirs);
      await this.#put(mine);
      asked.close();
    };
    const takeMine = button("personas.take_mine", () => attempt(takeMine, trouble, putMine));
    const text = element("pre", { tabindex: "0" }, element("code", { dir: "auto" }, theirs.text));
    const asked = dialog("personas.conflict", undefined, textElement("p", "personas.conflict_about"), text, trouble, element("div", { class: "actions" }, takeTheirs, takeMine));
  }
}

/** Shows the list of versions in `place`. `restore(text)` restores a text. */
function versions(place, kept, path, restore) {
  const rows = kept.map(({ version, saved_at: saved, saved_by: by, current }) => {
    const about = element("span", { class: "row-more" }, words.time(saved));
    if (by) about.append(element("span", { dir: "auto" }, by));
    const look = () => button("versions.look", () => openVersion(version, path(version), restore), { values: { version: String(version) } });
    const mark = current ? badge("versions.current", "bot") : labelled(look(), "versions.look_at");
    return element("li", {}, element("div", {}, textElement("strong", "versions.version", { version: String(version) }), about), mark);
  });
  const list = rows.length ? element("ul", { class: "versions" }, ...rows) : textElement("p", "versions.none", undefined, { class: "quiet" });
  place.replaceChildren(textElement("h2", "versions.title"), list);
}

async function openVersion(version, path, restore) {
  const trouble = element("div");
  const shown = element("div", {}, loading());
  const cancel = button("cancel", () => asked.close());
  const actions = element("div", { class: "actions" }, cancel);
  const asked = dialog("versions.version", { version: String(version) }, shown, trouble, actions);
  try {
    const { text } = await ask("GET", path);
    shown.replaceChildren(element("pre", { tabindex: "0" }, element("code", { dir: "auto" }, text)));
    const restoreButton = button(
      "versions.restore",
      async () => {
        if (await attempt(restoreButton, trouble, () => restore(text))) asked.close();
      },
      { class: "button strong" },
    );
    actions.append(restoreButton);
  } catch (error) {
    shown.replaceChildren(failure(error));
  }
}
