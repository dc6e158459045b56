// The page's own words, in the language that the conversation is held in. It can change while the page is open, so an
// element remembers in `data-words…` what it says: its text, its label, its placeholder.

const PLACES = [
  ["data-words", (element, text) => (element.textContent = text)],
  ["data-words-label", (element, text) => element.setAttribute("aria-label", text)],
  ["data-words-placeholder", (element, text) => element.setAttribute("placeholder", text)],
];

export class Words {
  #texts;

  /** `texts`: by language, then by key. `name`: whom `{name}` stands for. */
  constructor(texts, name, language) {
    this.#texts = texts;
    this.name = name;
    this.language = language;
  }

  /** Says everything on the page in `language` from now on; one without words of its own changes nothing. */
  use(language) {
    if (!this.#texts[language]) return;
    this.language = language;
    document.documentElement.lang = language;
    this.write(document);
  }

  /** The words of `key`, with `{place}` filled from `values`. */
  say(key, values = {}) {
    const all = { name: this.name, ...values };
    return (this.#texts[this.language][key] ?? "").replace(/\{(\w+)\}/g, (place, name) => all[name] ?? place);
  }

  /** Has the element say `key`, now and after a change of language. */
  put(element, key, values) {
    element.setAttribute("data-words", key);
    if (values) element.setAttribute("data-words-values", JSON.stringify(values));
    else element.removeAttribute("data-words-values");
    element.textContent = this.say(key, values);
  }

  /** Has the element say nothing. */
  clear(element) {
    element.removeAttribute("data-words");
    element.textContent = "";
  }

  /** Writes the words of every element below `root`. */
  write(root) {
    for (const [attribute, write] of PLACES) {
      for (const element of root.querySelectorAll(`[${attribute}]`)) {
        const values = JSON.parse(element.getAttribute("data-words-values") ?? "{}");
        write(element, this.say(element.getAttribute(attribute), values));
      }
    }
  }
}
