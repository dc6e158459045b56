// Which view the address names: `#/inbox/ID` is the view `inbox`, told `[ID]`.

import { words } from "./desk.js";

export class Router {
  #place;
  #views;
  #title;
  #live;
  #name;
  #view;
  #running = false;

  /** Shows `views`, by name, in `place`; the first one where the address names none. `title(key)` is the window's. */
  constructor(place, { views, title, live }) {
    this.#place = place;
    this.#views = views;
    this.#title = title;
    this.#live = live;
    addEventListener("hashchange", () => this.#running && this.#show(true));
  }

  /** Shows what the address names, from now on. `moved`: the reader comes from somewhere else on the page. */
  start(moved) {
    this.#running = true;
    this.#show(moved);
  }

  /** Shows nothing any more. */
  stop() {
    this.#running = false;
    this.#leave();
  }

  /** Writes the window's title. */
  title() {
    if (this.#view) document.title = this.#title(`${this.#name}.title`);
  }

  #leave() {
    this.#view?.close?.();
    this.#view = undefined;
    this.#name = undefined;
  }

  #show(moved) {
    const [named, ...rest] = location.hash.replace(/^#\/?/, "").split("/").map(decoded);
    const name = this.#views.has(named) ? named : [...this.#views.keys()][0];
    if (name !== this.#name) {
      this.#leave();
      this.#name = name;
      this.#view = this.#views.get(name)(this.#live);
      this.#place.replaceChildren(this.#view.element);
      this.#place.className = name;
      words.write(this.#place);
    }
    for (const link of document.querySelectorAll("#rail a")) {
      if (link.getAttribute("href") === `#/${name}`) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    // A view that shows several things moves the focus to the one that is shown now.
    const heading = this.#view.show?.(rest.filter(Boolean), moved) ?? this.#view.element.querySelector("h1");
    if (moved) heading?.focus();
    this.title();
  }
}

const decoded = (part) => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};
