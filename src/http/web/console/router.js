// Shows the view in the address: `#/inbox/ID` is the view `inbox` with the parameters `[ID]`.

import { words } from "./desk.js";

export class Router {
  #place;
  #views;
  #title;
  #live;
  #name;
  #view;
  #running = false;

  /** Shows one of `views` in `place`, by default the first. `title(key)` returns the title of the window. */
  constructor(place, { views, title, live }) {
    this.#place = place;
    this.#views = views;
    this.#title = title;
    this.#live = live;
    addEventListener("hashchange", () => this.#running && this.#show(true));
  }

  /** Starts following the address. `moved`: whether to move the focus to the view. */
  start(moved) {
    this.#running = true;
    this.#show(moved);
  }

  /** Stops following the address and closes the view. */
  stop() {
    this.#running = false;
    this.#leave();
  }

  /** Updates the title of the window. */
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
    // A view with several parts returns the one to focus.
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
