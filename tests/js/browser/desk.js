// Somebody of the shop at the console.
import { message, quiet, say } from "./stage.js";

export const KEY = "browser-test-key";

/** The console in a browser of its own (or in `context`), signed in, at the view `view`. */
export async function enter(stage, { name = "Lan", view = "", ...options } = {}) {
  const page = await stage.page({ path: `/console${view && `#/${view}`}`, ...options });
  await signIn(page, { name });
  await page.locator("#rail").waitFor({ state: "attached" });
  await page.locator("#rail:not([hidden])").waitFor({ state: "attached" });
  return page;
}

/** Fills the form and sends it. */
export async function signIn(page, { key = KEY, name = "Lan" } = {}) {
  await page.locator("input[name=key]").fill(key);
  await page.locator("input[name=name]").fill(name);
  await page.locator("input[name=key]").press("Enter");
}

/** Goes to a view as a link does. */
export const goTo = (page, view) => page.evaluate((hash) => (location.hash = hash), `#/${view}`);

/** The newest conversation of the shop, as the API gives it. */
export async function newest(stage) {
  const { conversations } = await stage.server.api("GET", "/conversations?limit=1");
  return conversations[0];
}

/** A conversation in which these texts were said, each answered to its end by the rules alone or by the model's next reply. */
export async function talk(stage, ...texts) {
  const customer = await stage.page();
  for (const text of texts) {
    await say(customer, text);
    await message(customer, text);
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
