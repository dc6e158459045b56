// The page's texts in the language of the conversation. The language can change while the page is open, so `data-words…`
// attributes name the texts of an element: its content, its label, its placeholder.

const PLACES = [
  ["data-words", (element, text) => (element.textContent = text)],
  ["data-words-label", (element, text) => element.setAttribute("aria-label", text)],
  ["data-words-placeholder", (element, text) => element.setAttribute("placeholder", text)],
];

export class Words {
  #texts;

  /** `texts`: by language, then by key. `name`: the value of `{name}`. Without texts in `language`, the page keeps the texts that it has. */
  constructor(texts, name, language) {
    this.#texts = texts;
    this.name = name;
    this.language = texts[language] ? language : document.documentElement.lang;
  }

  /** Switches the page to `language`, if it has texts. */
  use(language) {
    if (!this.#texts[language]) return;
    this.language = language;
    document.documentElement.lang = language;
    this.write(document);
  }

  /** Returns the text of `key`, with placeholders filled from `values`. */
  say(key, values = {}) {
    const all = { name: this.name, ...values };
    return (this.#texts[this.language][key] ?? "").replace(/\{(\w+)\}/g, (place, name) => all[name] ?? place);
  }

  /** Sets the element's content to the text of `key`, also after a change of language. */
  put(element, key, values) {
    element.setAttribute("data-words", key);
    if (values) element.setAttribute("data-words-values", JSON.stringify(values));
    else element.removeAttribute("data-words-values");
    element.textContent = this.say(key, values);
  }

  /** Clears the element's content. */
  clear(element) {
    element.removeAttribute("data-words");
    element.textContent = "";
  }

  /** Writes the texts of every element below `root`. */
  write(root) {
    for (const [attribute, write] of PLACES) {
      for (const element of root.querySelectorAll(`[${attribute}]`)) {
        const values = JSON.parse(element.getAttribute("data-words-values") ?? "{}");
        write(element, this.say(element.getAttribute(attribute), values));
      }
    }
  }
}
