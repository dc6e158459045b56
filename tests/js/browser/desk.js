// A person of the shop at the console.
import { message, quiet, say } from "./stage.js";

export const KEY = "browser-test-key";

/** Opens the console (in `context` if given), signs in and shows the view `view`. */
export async function enter(stage, { name = "Lan", view = "", ...options } = {}) {
  const page = await stage.page({ path: `/console${view && `#/${view}`}`, ...options });
  await signIn(page, { name });
  await page.locator("#rail").waitFor({ state: "attached" });
  await page.locator("#rail:not([hidden])").waitFor({ state: "attached" });
  return page;
}

/** Fills in and submits the form. */
export async function signIn(page, { key = KEY, name = "Lan" } = {}) {
  await page.locator("input[name=key]").fill(key);
  await page.locator("input[name=name]").fill(name);
  await page.locator("input[name=key]").press("Enter");
}

/** Opens a view as a link does. */
export const goTo = (page, view) => page.evaluate((hash) => (location.hash = hash), `#/${view}`);

/** Returns the newest conversation of the shop. */
export async function newest(stage) {
  const { conversations } = await stage.server.api("GET", "/conversations?limit=1");
  return conversations[0];
}

/** Opens a conversation with these messages, each answered by the rules or the model's next reply. */
export async function talk(stage, ...texts) {
  const customer = await stage.page();
  for (const [at, text] of texts.entries()) {
    await say(customer, text);
    await message(customer, text);
    // A message may be stored some time before its turn begins.
    await customer.locator(`.turn[data-turn="${at + 1}"] .message:not(.user)`).first().waitFor();
    await quiet(customer);
  }
  const { id } = await newest(stage);
  return { customer, id };
}

/** Opens a conversation from the list. */
export async function read(page, id) {
  await page.locator(`.row[href="#/inbox/${id}"]`).click();
  await page.locator(".thread .message").first().waitFor();
}
