// The inbox: the list of conversations, and the one that is read. Side by side where there is room, else one at a time.

import { ask, memory } from "./desk.js";
import { button, empty, failure, labelled, loading, said } from "./parts.js";
import { Conversation } from "./conversation.js";
import { element } from "../assets/elements.js";
import { Row } from "./row.js";

const STATUSES = ["all", "waiting", "taken", "bot", "closed"];
const PAGE = 50;
const MOST = 200;
// Whoever types a word does not search for its every beginning.
const TYPING_MS = 250;

/** The view: `live` tells of changes. */
export function inbox(live) {
  const list = new List(live, () => name());
  const reading = element("section", { class: "reading" });
  const nobody = () => empty("inbox.none_open", "inbox.none_open_hint");
  let open;
  // The list knows names that the conversation itself does not tell.
  const name = () => open?.called(list.nameOf(open.id));
  const view = element("div", { class: "panes" }, list.element, reading);
  return {
    element: view,
    show([id, turn]) {
      if (open?.id === id && id) return open.show(turn);
      const earlier = open?.id;
      open?.close();
      open = id ? new Conversation(id, live) : undefined;
      view.classList.toggle("reads", Boolean(id));
      reading.replaceChildren(open?.element ?? nobody());
      list.open(id);
      name();
      return open ? open.show(turn) : (list.link(earlier) ?? list.heading);
    },
    close() {
      open?.close();
      list.close();
    },
  };
}

class List {
  #live;
  #status = memory.get("status") ?? "all";
  #query = "";
  #rows = new Map();
  #next;
  #shown = PAGE;
  #reading = 0;
  #typing;
  #open;
  #place = element("ol", { class: "rows" });
  #state = element("div", { class: "rows-state" });
  #filters = element("div", { class: "filters", role: "group" });

  constructor(live, onRead) {
    this.#live = live;
    this.onRead = onRead;
    this.heading = said("h1", "inbox.title", undefined, { tabindex: "-1" });
    const search = labelled(labelled(element("input", { type: "search", class: "search" }), "inbox.search"), "inbox.search_hint", "placeholder");
    search.addEventListener("input", () => {
      clearTimeout(this.#typing);
      this.#typing = setTimeout(() => this.#look({ query: search.value.trim() }), TYPING_MS);
    });
    labelled(this.#filters, "inbox.filter");
    for (const status of STATUSES) this.#filters.append(this.#filter(status));
    this.element = element("section", { class: "list" }, this.heading, search, this.#filters, this.#place, this.#state);
    this.end = live.listen(() => this.#read(), { counts: true });
    this.#look({});
  }

  close() {
    clearTimeout(this.#typing);
    this.#reading += 1;
    this.end();
  }

  /** Marks the conversation that is read. */
  open(id) {
    this.#open = id;
    for (const row of this.#rows.values()) row.mark(row.id === id);
  }

  /** The link to a conversation, if it is listed. */
  link(id) {
    return this.#rows.get(id)?.link;
  }

  /** The name of a conversation's customer, if it is listed and known. */
  nameOf(id) {
    return this.#rows.get(id)?.customer;
  }

  #filter(status) {
    const count = element("span", { class: "count" });
    const pressed = element("button", { type: "button", "data-status": status }, said("span", `status.${status}`), count);
    pressed.addEventListener("click", () => this.#look({ status }));
    return pressed;
  }

  // Another wish: the list begins anew.
  #look({ status = this.#status, query = this.#query }) {
    this.#status = status;
    this.#query = query;
    this.#shown = PAGE;
    memory.set("status", status === "all" ? undefined : status);
    for (const filter of this.#filters.children) filter.setAttribute("aria-pressed", String(filter.dataset.status === status));
    if (!this.#rows.size) this.#state.replaceChildren(loading());
    this.#read();
  }

  async #read() {
    const mine = ++this.#reading;
    const wish = new URLSearchParams({ limit: this.#shown });
    if (this.#status !== "all") wish.set("status", this.#status);
    if (this.#query) wish.set("q", this.#query);
    try {
      const page = await ask("GET", `/console/api/conversations?${wish}`);
      if (mine !== this.#reading) return;
      this.#next = page.next;
      this.#count(page.counts);
      this.#show(page.conversations);
      this.onRead();
    } catch (error) {
      if (mine === this.#reading) this.#state.replaceChildren(failure(error, () => this.#read()));
    }
  }

  #count(counts) {
    const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
    for (const filter of this.#filters.children) {
      const count = { ...counts, all }[filter.dataset.status];
      filter.lastChild.textContent = count ? String(count) : "";
    }
    // Those of a search are not how many wait.
    if (!this.#query) this.#live.counted(counts);
  }

  // Rows that stay keep their elements, and with them the focus.
  #show(conversations) {
    const listed = new Set(conversations.map(({ id }) => id));
    for (const [id, row] of this.#rows) {
      if (listed.has(id)) continue;
      row.element.remove();
      this.#rows.delete(id);
    }
    let place = this.#place.firstChild;
    for (const conversation of conversations) {
      const row = this.#rows.get(conversation.id) ?? new Row(conversation.id);
      this.#rows.set(conversation.id, row);
      row.write(conversation);
      row.mark(conversation.id === this.#open);
      if (row.element === place) place = place.nextSibling;
      else if (row.link === document.activeElement) {
        // An element that moves loses the focus: the others move around it.
        while (place !== row.element) {
          const moved = place;
          place = place.nextSibling;
          this.#place.append(moved);
        }
        place = row.element.nextSibling;
      } else this.#place.insertBefore(row.element, place);
    }
    this.#tell(conversations.length);
  }

  #tell(count) {
    if (count && !this.#next) return this.#state.replaceChildren();
    if (count && this.#shown < MOST) {
      const more = () => {
        this.#shown = Math.min(this.#shown + PAGE, MOST);
        this.#read();
      };
      return this.#state.replaceChildren(button("inbox.more", more));
    }
    if (count) return this.#state.replaceChildren(said("p", "inbox.too_many", { count }, { class: "quiet" }));
    if (this.#query) return this.#state.replaceChildren(empty("inbox.not_found", "inbox.not_found_hint"));
    const nothing = this.#status === "all" ? "inbox.empty" : `inbox.empty_${this.#status}`;
    const visit = element("a", { class: "button", href: "/", target: "_blank", rel: "noopener" });
    const start = this.#status === "all" ? [said("span", "inbox.open_chat")] : [];
    visit.append(...start);
    this.#state.replaceChildren(empty(nothing, `${nothing}_hint`, ...(start.length ? [visit] : [])));
  }
}
