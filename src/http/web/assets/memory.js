// Values that the browser stores for one persona across reloads.

export class Memory {
  #storage;
  #prefix;

  /** `storage` is a function, because a browser may refuse access. Then values are lost when the page closes. */
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

  /** Stores a value; `undefined` removes it. */
  set(name, value) {
    try {
      if (value === undefined) this.#storage.removeItem(this.#prefix + name);
      else this.#storage.setItem(this.#prefix + name, JSON.stringify(value));
    } catch {
      // The storage is full or no longer allowed.
    }
  }

  /** Calls `changed(value)` when another tab changes the value. */
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
