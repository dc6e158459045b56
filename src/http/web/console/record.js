// The record of who changed what, as people read it. What there are no words for is shown as it stands.

import { element } from "../assets/elements.js";
import { word } from "./facts.js";
import { words } from "./desk.js";

/** The rows of the record, oldest first. */
export const record = (rows) => element("ol", {}, ...rows.map(line));

function line({ who, what, before, after, order, rma, at }) {
  const by = element("span", { dir: "auto" }, word("record_by", who));
  const about = element("p", { class: "by" }, element("strong", {}, happened(what)), by, element("span", {}, rma ?? order ?? ""), words.time(at));
  const changes = changed(what, before ?? {}, after ?? {});
  return element("li", {}, about, ...(changes.length ? [element("p", { dir: "auto" }, changes.join("; "))] : []));
}

const happened = (what) => word("record_what", what.replaceAll(".", "_"), what);

// Each thing that is different now, or was told.
function changed(what, before, after) {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => {
    const [was, is] = [before[name], after[name]].map((value) => shown(what, name, value));
    if (was === is) return [];
    return [named(name, was && is ? `${was} → ${is}` : is || was)];
  });
}

const named = (name, value) => `${words.has(`record_field.${name}`) ? words.say(`record_field.${name}`) : name}: ${value}`;

function shown(what, name, value) {
  if (value === undefined || value === null) return "";
  if (typeof value === "boolean") return words.say(value ? "record.yes" : "record.no");
  if (Array.isArray(value)) return value.map((each) => shown(what, name, each)).join(", ");
  if (typeof value === "object") return value.reason_code ? shown(what, "reason_code", value.reason_code) : changed(what, {}, value).join(", ");
  const keys = {
    status: `${what.split(".")[0]}_status.${value}`,
    decision: `decided.${value}`,
    priority: `priority.${value}`,
    action: `ticket_kind.${value}`,
    template: `mail_template.${value}`,
    ending: `record_ending.${value}`,
    email: `mail_status.${value}`,
    reason_code: `reason_code.${value}`,
  };
  const key = keys[name];
  return key && words.has(key) ? words.say(key) : String(value);
}
