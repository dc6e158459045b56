// The inbox: the list of conversations and the open one, side by side or, on a narrow window, one at a time.

import { Conversation } from "./conversation.js";
import { ask, memory } from "./desk.js";
import { button, empty, failure, labelled, loading, textElement } from "./parts.js";
import { element } from "../assets/render.js";
import { Row } from "./row.js";

const STATUSES = ["all", "waiting", "taken", "bot", "closed"];
const PAGE = 50;
const MOST = 200;
// How long to wait after the last key before searching.
const TYPING_MS = 250;

/** Returns the view. `live` reports changes. */
export function inbox(live) {
  const list = new List(live, () => name());
  const reading = element("section", { class: "reading" });
  const noneOpen = () => empty("inbox.none_open", "inbox.none_open_hint");
  let open;
  // Only the list contains customers' names.
  const name = () => open?.setCustomerName(list.nameOf(open.id));
  const view = element("div", { class: "panes" }, list.element, reading);
  return {
    element: view,
    show([id, turn]) {
      if (open?.id === id && id) return open.show(turn);
      const earlier = open?.id;
      open?.close();
      open = id ? new Conversation(id, live) : undefined;
      view.classList.toggle("reads", Boolean(id));
      reading.replaceChildren(open?.element ?? noneOpen());
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
  #more = button("inbox.more", () => this.#showMore(), { hidden: true });
  #filters = element("div", { class: "filters", role: "group" });

  constructor(live, onRead) {
    this.#live = live;
    this.onRead = onRead;
    this.heading = textElement("h1", "inbox.title", undefined, { tabindex: "-1" });
    const search = labelled(labelled(element("input", { type: "search", class: "search" }), "inbox.search"), "inbox.search_hint", "placeholder");
    search.addEventListener("input", () => {
      clearTimeout(this.#typing);
      this.#typing = setTimeout(() => this.#apply({ query: search.value.trim() }), TYPING_MS);
    });
    labelled(this.#filters, "inbox.filter");
    for (const status of STATUSES) this.#filters.append(this.#filter(status));
    this.element = element("section", { class: "list" }, this.heading, search, this.#filters, this.#place, this.#state, this.#more);
    this.end = live.listen(() => this.#read(), { counts: true });
    this.#apply({});
  }

  close() {
    clearTimeout(this.#typing);
    this.#reading += 1;
    this.end();
  }

  /** Marks the open conversation. */
  open(id) {
    this.#open = id;
    for (const row of this.#rows.values()) row.mark(row.id === id);
  }

  /** Returns the link to a conversation, if listed. */
  link(id) {
    return this.#rows.get(id)?.link;
  }

  /** Returns the name of a conversation's customer, if listed and known. */
  nameOf(id) {
    return this.#rows.get(id)?.customer;
  }

  #filter(status) {
    const count = element("span", { class: "count" });
    const pressed = element("button", { type: "button", "data-status": status }, textElement("span", `status.${status}`), count);
    pressed.addEventListener("click", () => this.#apply({ status }));
    return pressed;
  }

  // Applies a filter or a search and reads the list from the start.
  #apply({ status = this.#status, query = this.#query }) {
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
    const query = new URLSearchParams({ limit: this.#shown });
    if (this.#status !== "all") query.set("status", this.#status);
    if (this.#query) query.set("q", this.#query);
    try {
      const page = await ask("GET", `/console/api/conversations?${query}`);
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
    // With a search, the counts are not totals.
    if (this.#query) this.#live.count();
    else this.#live.counted(counts);
  }

  #showMore() {
    this.#shown = Math.min(this.#shown + PAGE, MOST);
    this.#read();
  }

  // Unchanged rows keep their elements and the focus.
  #show(conversations) {
    const isMoreFocused = this.#more === document.activeElement;
    let firstNew;
    const listed = new Set(conversations.map(({ id }) => id));
    for (const [id, row] of this.#rows) {
      if (listed.has(id)) continue;
      row.element.remove();
      this.#rows.delete(id);
    }
    let place = this.#place.firstChild;
    for (const conversation of conversations) {
      const isNew = !this.#rows.has(conversation.id);
      const row = isNew ? new Row(conversation.id) : this.#rows.get(conversation.id);
      if (isNew) firstNew ??= row.link;
      this.#rows.set(conversation.id, row);
      row.write(conversation);
      row.mark(conversation.id === this.#open);
      if (row.element === place) place = place.nextSibling;
      else if (row.link === document.activeElement) {
        // A moved element would lose the focus, so move the others.
        while (place !== row.element) {
          const moved = place;
          place = place.nextSibling;
          this.#place.append(moved);
        }
        place = row.element.nextSibling;
      } else this.#place.insertBefore(row.element, place);
    }
    this.#showState(conversations.length);
    // A hidden button loses the focus.
    if (isMoreFocused && this.#more.hidden) (firstNew ?? this.heading).focus();
  }

  #showState(count) {
    this.#more.hidden = !count || !this.#next || this.#shown >= MOST;
    if (count && (!this.#next || !this.#more.hidden)) return this.#state.replaceChildren();
    if (count) return this.#state.replaceChildren(textElement("p", "inbox.too_many", { count }, { class: "quiet" }));
    if (this.#query) return this.#state.replaceChildren(empty("inbox.not_found", "inbox.not_found_hint"));
    const nothing = this.#status === "all" ? "inbox.empty" : `inbox.empty_${this.#status}`;
    const visit = element("a", { class: "button", href: "/", target: "_blank", rel: "noopener" });
    const start = this.#status === "all" ? [textElement("span", "inbox.open_chat")] : [];
    visit.append(...start);
    this.#state.replaceChildren(empty(nothing, `${nothing}_hint`, ...(start.length ? [visit] : [])));
  }
}
