// Every state of the page, in both languages and themes: axe finds no violation, and SCREENSHOTS gets a picture of each at
// the size of a phone and of a desktop.
import { after, before, test } from "node:test";

import { Site } from "./site.js";
import { DESK, PHONE, QUESTION, VARIANTS, Stage, assertAccessible, assertClean, message, picture, play, quiet, say, tapped, written } from "./stage.js";

// A reply that the documents support, in chunks that end with a word.
const LANGUAGES = {
  vi: {
    widget: "Trò chuyện với SSTC",
    ask: QUESTION,
    reply: (link) => [
      "Dạ với nhu cầu học tập, em gợi ý **những máy sau** ạ:\n\n1. **Dell Inspiron**: màn hình lớn, hợp với soạn thảo ",
      `và học trực tuyến.\n2. **ASUS Vivobook**: nhẹ hơn, nhiều bộ nhớ hơn.\n\nQuý khách xem thêm tại [trang sản phẩm](${link}).`,
    ],
    part: "Dạ em đang xem những mẫu rẻ hơn trong danh mục ",
    stop: "Dừng",
    newChat: "Cuộc trò chuyện mới",
    no: "Hủy",
    more: "còn loại nào rẻ hơn không",
    person: "Em là Lan, em tư vấn tiếp cho quý khách nhé.",
  },
  en: {
    widget: "Chat with SSTC",
    ask: "which laptop do you recommend for a student?",
    reply: (link) => [
      "For studying I would suggest **these laptops**:\n\n- **Dell Inspiron**: a large screen, good for writing ",
      `and online classes.\n- **ASUS Vivobook**: lighter, with more memory.\n\nSee the [product page](${link}) for more.`,
    ],
    part: "I am looking through the cheaper ones in our catalogue ",
    stop: "Stop",
    newChat: "New conversation",
    no: "Cancel",
    more: "is there a cheaper laptop?",
    person: "This is Lan. I will take it from here.",
  },
};
const GONE = /Failed to load resource: net::ERR_|ERR_CONNECTION|ERR_INTERNET_DISCONNECTED|ERR_INCOMPLETE_CHUNKED|status of 50[03]/;

let site, stage;
before(async () => {
  site = await Site.start();
  site.style = "body { font: 18px/1.5 system-ui, sans-serif; margin: 40px; }";
  stage = await Stage.open({ WIDGET_ORIGINS: site.url });
  site.server = stage.server.url;
});
after(async () => {
  await stage?.close();
  site?.close();
});

for (const [language, scheme] of VARIANTS) {
  test(`every state is accessible: ${language}, ${scheme}`, async () => {
    const words = LANGUAGES[language];
    const context = await tapped(await stage.context({ scheme, size: PHONE }));
    const page = await stage.page({ context, path: language === "vi" ? "/" : `/?language=${language}`, expected: [GONE] });
    const seen = async (state) => {
      await assertAccessible(page, `${state}, ${language}, ${scheme}`);
      for (const [size, name] of [[DESK, "desk"], [PHONE, "phone"]]) {
        if (!process.env.SCREENSHOTS) continue;
        await page.setViewportSize(size);
        await picture(page, `${state}-${language}-${scheme}-${name}`);
      }
    };
    await message(page, "SSTC");
    await seen("1-greeting");

    const reply = stage.model.next();
    await say(page, words.ask);
    await reply.asked;
    await page.locator(".typing").waitFor();
    await seen("2-typing");
    const [first, rest] = words.reply(`${stage.server.url}/`);
    reply.say(first);
    await page.locator(".message.reply li").first().waitFor();
    await seen("3-streaming");
    reply.say(rest);
    reply.end();
    await quiet(page);
    await page.locator(".sources summary").click();
    await seen("4-sources");
    await page.locator(".sources summary").click();

    const broken = stage.model.next();
    await say(page, words.more);
    await broken.asked;
    broken.say(words.part);
    await page.locator(".message.reply.growing").waitFor();
    broken.breakOff();
    await page.locator(".again button").waitFor();
    await quiet(page);
    await seen("5-error");

    const stopped = stage.model.next();
    await say(page, words.ask);
    await stopped.asked;
    stopped.say(words.part);
    await page.locator(".message.reply.growing").waitFor();
    await page.getByRole("button", { name: words.stop, exact: true }).click();
    await quiet(page);
    await seen("6-stopped");

    await play(page, 9, written(9, "a9", words.person, "Lan"));
    await message(page, words.person);
    await seen("7-person");

    await page.getByRole("button", { name: words.newChat }).click();
    await page.locator("dialog[open]").waitFor();
    await seen("8-question");
    await page.getByRole("button", { name: words.no }).click();

    await page.route("**/messages", (route) => route.fulfill({ status: 500, json: { code: "internal" } }));
    await say(page, words.more);
    await page.locator(".note.trouble button").waitFor();
    await page.locator("#text").fill("ạ".repeat(4001));
    await page.locator("#hint:not(:empty)").waitFor();
    await seen("9-refused");
    await page.locator("#text").fill("");

    await page.context().setOffline(true);
    await page.locator("#connection.lost").waitFor();
    await seen("10-reconnecting");
    await page.context().setOffline(false);
    await page.locator("#connection:not(.lost)").waitFor({ state: "attached" });
    assertClean(page);
  });

  test(`the widget is accessible: ${language}, ${scheme}`, async () => {
    const words = LANGUAGES[language];
    site.attributes = `data-language="${language}"`;
    const page = await stage.page({ url: site.url, hosts: [site.url], scheme, size: DESK });
    const button = page.getByRole("button", { name: words.widget });
    await button.waitFor();
    await picture(page, `11-widget-closed-${language}-${scheme}-desk`);
    await button.click();
    const frame = page.frameLocator("iframe");
    await message(frame, "SSTC");
    stage.model.nextSays(words.reply(`${stage.server.url}/`).join(""));
    await say(frame, words.ask);
    await frame.locator(".message.reply a").waitFor();
    await frame.locator("#running").waitFor({ state: "hidden" });
    await assertAccessible(page, `the widget, ${language}, ${scheme}`);
    const inside = page.frames().find((frame) => frame.url().startsWith(stage.server.url));
    await assertAccessible(inside, `the widget's inside, ${language}, ${scheme}`);
    await picture(page, `12-widget-open-${language}-${scheme}-desk`);
    await page.setViewportSize(PHONE);
    await picture(page, `12-widget-open-${language}-${scheme}-phone`);
    assertClean(page);
  });
}
