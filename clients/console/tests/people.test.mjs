// Several pages at once, and pages whose server goes away.
import assert from "node:assert/strict";

import { check, choose, clean, ended, screenshot, say, script, visit } from "./support.mjs";

const command = (cmd) => ({ calls: [{ name: "exec_command", arguments: { cmd } }] });

check("two tabs see the same turn, and either answers for both", async ({ place, person }) => {
  const { url } = await place.serve();
  const context = await person();
  const one = await visit(context, url);
  await choose(one, "Approvals", "untrusted");
  await choose(one, "Sandbox", "workspaceWrite");
  await say(one, script(command("touch made"), { text: "both see this" }));
  const card = (page) => page.getByRole("region", { name: "May this command run?" });
  await card(one).waitFor();

  // The other one comes later, and from somewhere else: the badge leads it to the question.
  const two = await visit(await person(), url);
  await two.locator("nav .badge", { hasText: "1" }).waitFor();
  await two.getByRole("link", { name: "Questions 1" }).click();
  await card(two).getByRole("button", { name: "Allow once" }).click();
  await two.getByText("Nobody waits for you.").waitFor();
  await ended(one);
  assert.equal(await card(one).count(), 0);
  await one.getByText("both see this", { exact: true }).waitFor();

  await two.locator(".threads a").first().click();
  await two.getByText("both see this", { exact: true }).waitFor();
  await say(two, script({ text: "a second turn" }));
  await one.getByText("a second turn", { exact: true }).waitFor();
  await Promise.all([ended(one), ended(two)]);
  clean(one);
  clean(two);
});

check("a page survives its server", async ({ place, person }) => {
  const server = await place.serve();
  const page = await visit(await person(), server.url);
  await say(page, script({ text: "before the end" }));
  await ended(page);
  // A turn that runs when the server is killed is interrupted; what was shown of it is still there.
  await say(page, script({ deltas: 2000, size: 8, every: 20 }));
  await page.locator(".item.agentMessage").nth(1).locator("p").waitFor();
  await server.kill();
  await page.getByRole("alert").getByText("The connection is lost").waitFor();
  await page.getByLabel("Message", { exact: true }).fill("what I typed meanwhile");
  await screenshot(page, "console-reconnecting");

  await place.serve(server.port);
  await page.getByRole("alert").waitFor({ state: "hidden" });
  await page.locator(".foot").last().getByText("Interrupted", { exact: true }).waitFor();
  await page.getByText("before the end", { exact: true }).waitFor();
  assert.equal(await page.getByLabel("Message", { exact: true }).inputValue(), "what I typed meanwhile");
  await say(page, script({ text: "after the end" }));
  await page.getByText("after the end", { exact: true }).waitFor();
  await ended(page);
  assert.equal(await page.locator(".foot").count(), 3);
});

check("a connection that breaks loses nothing of a running turn", async ({ place, person }) => {
  const { port } = await place.serve();
  const wire = await place.wire(port);
  const page = await visit(await person(), wire.url);
  let breaks = 0;
  page.on("websocket", () => breaks++);
  const words = Array.from({ length: 200 }, (_, at) => `word${at} `);
  await say(page, script({ deltas: words, every: 20 }));
  await page.getByText("word5 ").first().waitFor();
  for (let time = 1; time <= 3; time++) {
    const again = page.waitForEvent("websocket");
    wire.cut();
    await again;
    await page.getByRole("alert").waitFor({ state: "hidden" });
  }
  await ended(page);
  assert.ok(breaks >= 3, String(breaks));
  const text = await page.locator(".item.agentMessage .markdown").innerText();
  assert.equal(text.trim().replaceAll(/\s+/g, " "), words.join("").trim());
});

check("a question of another thread is badged and answered from there", async ({ place, person }) => {
  const { url } = await place.serve();
  const page = await visit(await person(), url);
  await choose(page, "Approvals", "untrusted");
  await choose(page, "Sandbox", "workspaceWrite");
  await say(page, script(command("touch other"), { text: "asked and answered" }));
  await page.getByRole("region", { name: "May this command run?" }).waitFor();
  await page.getByRole("link", { name: "New thread" }).click();
  await page.locator(".threads .badge").waitFor();
  assert.match(await page.title(), /^\(1\) /);
  await page.keyboard.press("Escape");
  await page.keyboard.press("q");
  await page.getByRole("heading", { name: "Questions" }).waitFor();
  await page.getByRole("button", { name: "Allow once" }).click();
  await page.locator(".threads .badge").waitFor({ state: "detached" });
  await page.locator(".threads a").first().click();
  await page.getByText("asked and answered", { exact: true }).waitFor();
  clean(page);
});

check("a thread that another program has can be read", async ({ place, person }) => {
  const [one, other] = [await place.serve(), await place.serve()];
  const page = await visit(await person(), one.url);
  await say(page, script({ text: "what is stored" }));
  await ended(page);
  const reader = await visit(await person(), other.url, new URL(page.url()).hash);
  await reader.getByText("what is stored", { exact: true }).waitFor();
  await reader.locator(".note", { hasText: "Another program works on this thread" }).waitFor();
  // It may not be written to, and says so; what was typed stays.
  await say(reader, "may I?");
  await reader.locator(".note.problem").waitFor();
  assert.equal(await reader.getByLabel("Message", { exact: true }).inputValue(), "may I?");
  clean(reader);
});

check("a thread that another tab archived goes on when it is restored and written to", async ({ place, person }) => {
  const { url } = await place.serve();
  const context = await person();
  const [one, two] = [await visit(context, url), await visit(context, url)];
  await say(one, script({ text: "before the archive" }));
  await ended(one);
  await two.locator(".threads a").first().click();
  await two.getByText("before the archive", { exact: true }).waitFor();
  await two.locator(".menu summary").click();
  await two.getByRole("button", { name: "Archive" }).click();
  await two.getByRole("dialog").getByRole("button", { name: "Archive" }).click();
  await one.locator(".threads a").first().waitFor({ state: "detached" });
  await choose(two, "Filter", "archived");
  await two.getByRole("button", { name: "Restore" }).click();
  await one.locator(".threads a").first().waitFor();
  await say(one, script({ text: "after the archive" }));
  await one.getByText("after the archive", { exact: true }).waitFor();
  await ended(one);
  clean(one);
  clean(two);
});
