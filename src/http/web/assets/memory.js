// What the browser remembers of one persona's conversation across a reload.

export class Memory {
  #storage;
  #prefix;

  /** `storage` is asked for, since a browser may refuse it: then the page remembers as long as it is open. */
  constructor(storage, persona) {
    this.#prefix = `frontdesk:${persona}:`;
    try {
      this.#storage = storage();
      this.#storage.getItem(this.#prefix);
    } catch {
      this.#storage = new Forgetful();
    }
  }

  get(name) {
    try {
      return JSON.parse(this.#storage.getItem(this.#prefix + name)) ?? undefined;
    } catch {
      return undefined;
    }
  }

  /** `undefined` forgets. */
  set(name, value) {
    try {
      if (value === undefined) this.#storage.removeItem(this.#prefix + name);
      else this.#storage.setItem(this.#prefix + name, JSON.stringify(value));
    } catch {
      // Full, or forbidden since: what is on the page stays there.
    }
  }

  /** Calls back when another tab has changed the value. */
  onChange(name, changed) {
    addEventListener("storage", ({ storageArea, key }) => {
      if (storageArea === this.#storage && key === this.#prefix + name) changed(this.get(name));
    });
  }
}

class Forgetful {
  #values = new Map();
  getItem = (key) => this.#values.get(key) ?? null;
  setItem = (key, value) => this.#values.set(key, value);
  removeItem = (key) => this.#values.delete(key);
}
