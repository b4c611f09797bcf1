// For everybody: by keyboard alone, on a phone, with assistive technology, in both themes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { check, choose, clean, ended, say, script, visit } from "./support.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const command = (cmd) => ({ calls: [{ name: "exec_command", arguments: { cmd } }] });
const PATCH = "*** Begin Patch\n*** Add File: notes.md\n+# Notes\n+\n+- one\n+- two\n*** End Patch";
const TEXT =
  "## Done\n\nThe file **notes.md** has `two` lines.\n\n1. first\n2. second\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```sh\ncat notes.md\n```\n\nSee <https://example.com/docs>.";

/** Everything that the check finds, in the words of its rules. */
async function axe(page) {
  // The page's own policy forbids other scripts, so that the check runs beside it.
  const session = await page.context().newCDPSession(page);
  await session.send("Runtime.evaluate", { expression: AXE });
  const run =
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes.map((it) => it.html.slice(0, 160)).join(' | ')}`))";
  const { result, exceptionDetails } = await session.send("Runtime.evaluate", {
    expression: run,
    awaitPromise: true,
    returnByValue: true,
  });
  assert.equal(exceptionDetails, undefined, JSON.stringify(exceptionDetails));
  return result.value;
}

async function conversation(page) {
  await choose(page, "Approvals", "untrusted");
  await choose(page, "Sandbox", "workspaceWrite");
  const plan = [
    { step: "Write the notes", status: "completed" },
    { step: "Read them", status: "in_progress" },
  ];
  await say(
    page,
    script(
      { reasoning: "First the **notes**.", calls: [{ name: "update_plan", arguments: { plan } }] },
      { patch: PATCH },
      command("cat notes.md"),
      { text: TEXT },
    ),
  );
  await page.getByRole("button", { name: "Allow", exact: true }).click();
  await ended(page);
}

for (const theme of ["light", "dark"]) {
  check(`every view passes the accessibility check in ${theme} colours`, async ({ place, person }) => {
    const { url } = await place.serve();
    const page = await visit(await person({ colorScheme: theme }), url);
    assert.deepEqual(await axe(page), [], "a new thread");
    await choose(page, "Approvals", "untrusted");
    await say(page, script(command("touch x"), { text: "no" }));
    await page.getByRole("region", { name: "May this command run?" }).waitFor();
    assert.deepEqual(await axe(page), [], "a question");
    await page.getByRole("button", { name: "Decline and stop" }).click();
    await ended(page, "Interrupted");
    await page.getByRole("link", { name: "New thread" }).click();
    await conversation(page);
    assert.deepEqual(await axe(page), [], "a turn");
    await page.locator(".menu summary").click();
    assert.deepEqual(await axe(page), [], "the menu");
    for (const [view, heading] of [
      ["Questions", "Questions"],
      ["Runners", "Runners"],
      ["Settings", "Settings"],
    ]) {
      await page.getByRole("navigation").getByRole("link", { name: view }).click();
      await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
      if (view === "Settings") await page.getByRole("cell", { name: "model_provider", exact: true }).waitFor();
      assert.deepEqual(await axe(page), [], view);
    }
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    assert.deepEqual(await axe(page), [], "keys");
    clean(page);
  });
}

check("a whole turn by keyboard alone", async ({ place, person }) => {
  const { url } = await place.serve();
  const page = await visit(await person(), url);
  const { keyboard } = page;
  const focused = () =>
    page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent);
  const tabTo = async (name) => {
    for (let step = 0; step < 60; step++) {
      if ((await focused()) === name) return;
      await keyboard.press("Tab");
    }
    assert.fail(`${name} cannot be reached; the focus is on ${await focused()}`);
  };
  assert.equal(await focused(), "Message", "the message comes first");
  await tabTo("Sandbox");
  await keyboard.type("Write");
  await tabTo("Approvals");
  await keyboard.type("Ask unless");
  await page.evaluate(() => document.activeElement.blur());
  await keyboard.press("c");
  await keyboard.insertText(script(command("touch by-key"), { text: "made by key" }));
  await keyboard.press("Enter");
  await page.getByRole("region", { name: "May this command run?" }).waitFor();
  await keyboard.press("Escape");
  await keyboard.press("q");
  assert.equal(await focused(), "Allow once");
  await keyboard.press("Enter");
  await ended(page);
  await page.getByText("made by key", { exact: true }).waitFor();

  // A second thread, back to the first, and its name.
  await page.evaluate(() => document.activeElement.blur());
  await keyboard.press("n");
  // The page of a new thread takes the focus when it is there.
  await page.waitForFunction(() => document.activeElement.getAttribute("aria-label") === "Message");
  await keyboard.press("Escape");
  await keyboard.press("/");
  assert.equal(await focused(), "Search threads");
  await page.locator(".threads a").first().waitFor();
  // The list may be drawn again while the focus goes there.
  const isInList = () => page.evaluate(() => document.activeElement.closest(".threads") !== null);
  while (!(await isInList())) await keyboard.press("ArrowDown");
  await keyboard.press("Enter");
  await page.getByText("made by key", { exact: true }).waitFor();
  await tabTo("Actions of the thread");
  await keyboard.press("Enter");
  await tabTo("Rename…");
  await keyboard.press("Enter");
  await keyboard.type("By keyboard");
  await keyboard.press("Enter");
  await page.getByRole("heading", { name: "By keyboard" }).waitFor();
  await page.locator(".threads a", { hasText: "By keyboard" }).waitFor();
  clean(page);
});

check("everything fits a phone", async ({ place, person }) => {
  const { url, kill } = await place.serve();
  const context = await person({ viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true });
  const page = await visit(context, url);
  await conversation(page);
  await page.getByRole("button", { name: "Threads and views" }).tap();
  await page.locator(".threads a").first().waitFor();
  await page.locator(".threads a").first().tap();
  await page.locator(".sidebar.open").waitFor({ state: "detached" });
  for (const hash of ["#/settings", "#/runners", "#/questions", "#/"]) {
    await page.goto(url + hash);
    await page.getByRole("heading", { level: 1 }).waitFor();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 360, `${hash} is ${wide} px wide`);
  }
  const touch = await page.getByRole("button", { name: "Send" }).boundingBox();
  assert.ok(touch && touch.x + touch.width <= 360 && touch.height >= 30, JSON.stringify(touch));
  clean(page);
  // What is said about a lost connection is not behind the button.
  await kill();
  const banner = page.locator(".banner");
  await banner.waitFor();
  const left = await banner.evaluate((it) => {
    const text = document.createRange();
    text.selectNodeContents(it);
    return text.getBoundingClientRect().left;
  });
  const button = await page.getByRole("button", { name: "Threads and views" }).boundingBox();
  assert.ok(button && left >= button.x + button.width, `${left} in ${JSON.stringify(button)}`);
});
