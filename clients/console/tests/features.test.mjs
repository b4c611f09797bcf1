// What the page can do with threads and turns, beyond the first one.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { check, choose, clean, ended, screenshot, say, script, visit } from "./support.mjs";

const command = (cmd, more = {}) => ({ calls: [{ name: "exec_command", arguments: { cmd, ...more } }] });
const message = (page) => page.getByLabel("Message", { exact: true });
const menu = async (page, name) => {
  await page.locator(".menu summary").click();
  await page.locator(".menu-items").getByRole("button", { name }).click();
};

check("threads are named, found, forked, archived and restored", async ({ place, person }) => {
  const { url } = await place.serve();
  const page = await visit(await person(), url);
  await say(page, "A walrus in the garden");
  await ended(page);
  await menu(page, "Rename…");
  await page.getByRole("dialog").getByRole("textbox").fill("Walrus watch");
  await page.keyboard.press("Enter");
  const list = page.locator(".threads a");
  await list.filter({ hasText: "Walrus watch" }).waitFor();

  await page.getByRole("link", { name: "New thread" }).click();
  await say(page, "Something else");
  await ended(page);
  await list.filter({ hasText: "Something else" }).waitFor();
  await page.getByRole("searchbox", { name: "Search threads" }).fill("walrus");
  await list.filter({ hasText: "Something else" }).waitFor({ state: "detached" });
  await list.filter({ hasText: "Walrus watch" }).click();
  await page.getByRole("heading", { name: "Walrus watch" }).waitFor();

  const before = page.url();
  await menu(page, "Fork");
  await page.waitForURL((now) => now.href !== before);
  await page.locator(".said", { hasText: "A walrus in the garden" }).waitFor();
  await page.goto(before);
  await page.getByRole("heading", { name: "Walrus watch" }).waitFor();
  await menu(page, "Archive");
  await page.getByRole("dialog").getByRole("button", { name: "Archive" }).click();
  await page.getByRole("heading", { name: "New thread" }).waitFor();
  await page.getByRole("searchbox", { name: "Search threads" }).fill("");
  await list.filter({ hasText: "Walrus watch" }).waitFor({ state: "detached" });
  await choose(page, "Filter", "archived");
  await list.filter({ hasText: "Walrus watch" }).waitFor();
  await page.getByRole("button", { name: "Restore" }).click();
  await choose(page, "Filter", "all");
  await list.filter({ hasText: "Walrus watch" }).waitFor();
  clean(page);
});

check("a turn is steered, interrupted and rolled back", async ({ place, person }) => {
  const { url } = await place.serve();
  const page = await visit(await person(), url);
  await say(page, script({ text: "the first turn" }));
  await ended(page);
  await say(page, script({ deltas: 400, size: 8, every: 20 }));
  await page.getByRole("button", { name: "Steer" }).waitFor();
  await say(page, "and mind the gap");
  await page.locator(".pending .said", { hasText: "and mind the gap" }).waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await ended(page, "Interrupted");
  // It is in the thread if the turn took it in, else in the text field again; never lost, and not in both.
  await page.waitForFunction(() => {
    const said = [...document.querySelectorAll(".item.userMessage .said")].map((it) => it.textContent);
    return (document.querySelector("textarea").value === "and mind the gap") !== said.includes("and mind the gap");
  });
  assert.equal(await page.locator(".foot").count(), 2);
  await page.getByRole("button", { name: "Roll back" }).last().click();
  await page.getByRole("dialog").getByRole("button", { name: "Roll back" }).click();
  await page.locator(".foot").nth(1).waitFor({ state: "detached" });
  assert.equal(await page.locator(".foot").count(), 1);
  // What a new page loads is the same.
  await page.reload();
  await page.getByText("the first turn", { exact: true }).waitFor();
  assert.equal(await page.locator(".foot").count(), 1);
});

check("patches are shown in both ways, and declined ones are not made", async ({ place, person }) => {
  const { url } = await place.serve();
  place.file("poem.txt", "roses\nare\nred\n");
  const page = await visit(await person(), url);
  await choose(page, "Approvals", "untrusted");
  await choose(page, "Sandbox", "workspaceWrite");
  const patch = "*** Begin Patch\n*** Update File: poem.txt\n@@\n roses\n-are\n+were\n red\n*** End Patch";
  await say(page, script({ patch }, { text: "done" }));
  const card = page.getByRole("region", { name: "May these changes be made?" });
  await card.locator(".diff .removed", { hasText: "are" }).first().waitFor();
  await card.getByRole("button", { name: "Decline", exact: true }).click();
  await ended(page);
  assert.equal(readFileSync(join(place.work, "poem.txt"), "utf8"), "roses\nare\nred\n");
  await say(page, script({ patch }, { text: "done again" }));
  await card.getByRole("button", { name: "Allow", exact: true }).click();
  await ended(page);
  assert.equal(readFileSync(join(place.work, "poem.txt"), "utf8"), "roses\nwere\nred\n");
  const diff = page.locator(".item.fileChange .diff").last();
  assert.match(await diff.getAttribute("class"), /unified/);
  await menu(page, "Side-by-side diffs");
  await page.locator(".item.fileChange .diff.split").last().waitFor();
  const row = page.locator(".item.fileChange .diff.split").last().locator("tr", { hasText: "were" });
  assert.deepEqual(
    (await row.locator("td.text").allInnerTexts()).map((it) => it.trim()),
    ["are", "were"],
  );
  clean(page);
});

check("a command's output comes while it runs, with colours and its exit code", async ({ place, person }) => {
  const { url } = await place.serve();
  const page = await visit(await person(), url);
  await choose(page, "Sandbox", "workspaceWrite");
  await say(
    page,
    script(
      command(
        "printf '10%%\\r\\033[31m55%%\\033[0m\\r\\033[32mgreen\\033[0m first\\n'; while [ ! -e go ]; do sleep 0.05; done; echo second; exit 3",
        { yield_time_ms: 20000 },
      ),
      { text: "over" },
    ),
  );
  await page.locator(".terminal", { hasText: "green first" }).waitFor();
  await page.locator(".state", { hasText: "running" }).waitFor();
  await page.locator(".terminal .t-fg2", { hasText: "green" }).waitFor();
  assert.equal((await page.locator(".terminal").innerText()).trim(), "green first", "a progress bar replaces itself");
  writeFileSync(join(place.work, "go"), "");
  await page.locator(".terminal", { hasText: "second" }).waitFor();
  await page.locator(".state.failed, .state", { hasText: "exit 3" }).waitFor();
  await ended(page);
});

check("files are found by @, and images are pasted", async ({ place, person }) => {
  const { url } = await place.serve();
  place.file("src/walrus_handler.rs", "");
  place.file("docs/other.md", "");
  const page = await visit(await person(), url);
  await say(page, "hello");
  await ended(page);
  await message(page).pressSequentially("look at @walr");
  const option = page.getByRole("option", { name: "src/walrus_handler.rs" });
  await option.waitFor();
  await page.keyboard.press("Enter");
  assert.equal(await message(page).inputValue(), "look at src/walrus_handler.rs ");
  await option.waitFor({ state: "hidden" });
  // A pixel, as the clipboard would give it, and again as it is dropped.
  for (const way of ["paste", "drop"])
    await message(page).evaluate((field, kind) => {
      const bytes = Uint8Array.from(
        atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="),
        (it) => it.charCodeAt(0),
      );
      const data = new DataTransfer();
      data.items.add(new File([bytes], "pixel.png", { type: "image/png" }));
      const options = { bubbles: true, cancelable: true };
      field.dispatchEvent(
        kind === "paste"
          ? new ClipboardEvent(kind, { clipboardData: data, ...options })
          : new DragEvent(kind, { dataTransfer: data, ...options }),
      );
    }, way);
  await page.getByRole("img", { name: "Attached image 2" }).waitFor();
  await page.getByRole("button", { name: "Remove image 2" }).click();
  await page.getByRole("img", { name: "Attached image 2" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Send" }).click();
  const sent = page.locator(".item.userMessage").last();
  await sent.getByRole("img", { name: "attached image" }).waitFor();
  assert.ok((await sent.locator("img").evaluate((it) => it.naturalWidth)) === 1);
  await page.getByRole("img", { name: "Attached image 1" }).waitFor({ state: "detached" });
  clean(page);
});

check("a draft survives a reload, and a refused message stays", async ({ place, person }) => {
  const { url } = await place.serve();
  const page = await visit(await person(), url);
  await message(page).fill("half a thought");
  await page.reload();
  await message(page).waitFor();
  assert.equal(await message(page).inputValue(), "half a thought");
  // The server takes no text of more than a million characters.
  const long = "x".repeat(1_100_000);
  await message(page).fill(long);
  await message(page).press("Enter");
  await page.locator(".note.problem").waitFor();
  assert.equal((await message(page).inputValue()).length, long.length);
});

check("a review, a compaction, and what a turn cost", async ({ place, person }) => {
  const { url } = await place.serve();
  const page = await visit(await person(), url);
  await page.evaluate(() =>
    localStorage.setItem(
      "quipu.choices",
      JSON.stringify({ prices: { offline: { input: 10, cached: 1, output: 100 } } }),
    ),
  );
  await say(page, script({ text: "counted", usage: { input: 1000, cached: 0, output: 100, reasoning: 0 } }));
  await ended(page);
  await page.locator(".turn-state", { hasText: "1.1k tokens · $0.0200" }).waitFor();
  await say(page, script({ text: "again", usage: { input: 2000, cached: 1000, output: 100, reasoning: 0 } }));
  await ended(page);
  await page.locator(".thread-head").getByText("3.2k tokens").waitFor();
  await page.getByRole("img", { name: "Tokens of the last 2 turns" }).waitFor();
  await menu(page, "Compact history");
  await page.getByText("The history was compacted").waitFor();
  await ended(page);
  await menu(page, "Review…");
  await page.getByLabel("What to review").selectOption("custom");
  await page.getByLabel("Branch, commit or instructions").fill(script({ text: "All is well." }));
  await page.getByRole("button", { name: "Start" }).click();
  await page.locator(".item.enteredReviewMode").waitFor();
  await page.locator(".item.exitedReviewMode").waitFor();
  await ended(page);
  // It is there once, and the task of the reviewer is not shown as if the user had said it.
  assert.equal(await page.getByText("All is well.", { exact: true }).count(), 1);
  assert.equal(await page.locator(".item.userMessage").count(), 2);
  clean(page);
});

check("model, effort, sandbox and approvals go with the turn", async ({ place, person }) => {
  const { url } = await place.serve();
  const page = await visit(await person(), url);
  const sent = [];
  page.on("websocket", (socket) => socket.on("framesent", ({ payload }) => sent.push(JSON.parse(String(payload)))));
  await page.reload();
  await message(page).waitFor();
  await say(page, "first");
  await ended(page);
  await choose(page, "Sandbox", "readOnly");
  await choose(page, "Approvals", "never");
  await say(page, script(command("touch not-allowed"), { text: "tried" }));
  await ended(page);
  assert.equal(existsSync(join(place.work, "not-allowed")), false);
  const turns = sent.filter(({ method }) => method === "turn/start");
  assert.equal(turns.length, 2);
  assert.deepEqual([turns[0].params.sandboxPolicy, turns[0].params.approvalPolicy], [undefined, undefined]);
  assert.deepEqual([turns[1].params.sandboxPolicy, turns[1].params.approvalPolicy], [{ type: "readOnly" }, "never"]);
});

check("settings show where each value comes from, and set one", async ({ place, person }) => {
  const file = join(place.home, "config.toml");
  writeFileSync(file, 'model_reasoning_effort = "high"\n');
  const { url } = await place.serve();
  const page = await visit(await person(), url);
  await page.getByRole("navigation").getByRole("link", { name: "Settings" }).click();
  const row = (key) => page.getByRole("row").filter({ has: page.getByRole("cell", { name: key, exact: true }) });
  await row("model_reasoning_effort").getByText(file).waitFor();
  await row("model_provider").getByText("command line").waitFor();
  await screenshot(page, "console-settings");
  await page.getByRole("searchbox", { name: "Filter the configuration" }).fill("effort");
  await row("model_provider").waitFor({ state: "detached" });
  await page.getByRole("textbox", { name: "Key", exact: true }).fill("model_reasoning_effort");
  await page.getByLabel("Value as JSON or text").fill("low");
  await page.getByRole("button", { name: "Set in config.toml" }).click();
  await row("model_reasoning_effort").getByText("low").waitFor();
  assert.match(readFileSync(file, "utf8"), /model_reasoning_effort = "low"/);
  await page.getByLabel("Colours").selectOption("dark");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  clean(page);
});

check("a setting with which no thread could be started is not written", async ({ place, person }) => {
  const file = join(place.home, "config.toml");
  const before = '# mine\nmodel_provider = "offline"\n';
  writeFileSync(file, before);
  const { found: url } = await place.start(
    ["app-server", "--listen", "ws://127.0.0.1:0", "--console"],
    /console: (http:\S+)\n/,
  );
  const page = await visit(await person(), url);
  await page.getByRole("navigation").getByRole("link", { name: "Settings" }).click();
  const set = async (key, value, said) => {
    await page.getByRole("textbox", { name: "Key", exact: true }).fill(key);
    await page.getByLabel("Value as JSON or text").fill(value);
    await page.getByRole("button", { name: "Set in config.toml" }).click();
    await page.locator("#notes").getByText(said).waitFor();
  };
  await set("model_provider", "nope", /^model_provider is not changed: .*`nope` not found; there are: openai, /);
  assert.equal(readFileSync(file, "utf8"), before);
  await set("default_permissions", "nope", /^default_permissions is not changed: .*permissions/);
  assert.equal(readFileSync(file, "utf8"), before);
  await set("approval_policy", "sometimes", /unknown variant `sometimes`/);
  assert.equal(readFileSync(file, "utf8"), before);
  // What is broken already can be repaired in steps.
  writeFileSync(file, 'model_provider = "mine"\n');
  await set("model", "small", /^model is written. Threads cannot be started: .*`mine` not found/);
  await set("model_providers.mine", '{"name": "Mine", "base_url": "http://127.0.0.1:9/v1"}', "model_providers.mine is written.");
  await set("model_provider", "openai", "model_provider is written.");
  assert.match(readFileSync(file, "utf8"), /model_provider = "openai"/);
  clean(page);
});

check("a question with a form is answered", async ({ place, person }) => {
  const { url } = await place.serve(0, ["--enable", "default_mode_request_user_input"]);
  const page = await visit(await person(), url);
  const questions = [
    {
      id: "colour",
      header: "Colour",
      question: "Which colour?",
      options: [
        { label: "Red", description: "warm" },
        { label: "Blue", description: "cold" },
      ],
    },
  ];
  await say(page, script({ calls: [{ name: "request_user_input", arguments: { questions } }] }, { text: "thanks" }));
  const card = page.getByRole("region", { name: "The agent asks" });
  await card.getByLabel("Blue").check();
  await card.getByRole("button", { name: "Answer" }).click();
  await ended(page);
  clean(page);
});

check("permissions are granted for the turn", async ({ place, person }) => {
  const { url } = await place.serve(0, ["--enable", "request_permissions_tool"]);
  const page = await visit(await person(), url);
  await choose(page, "Approvals", "on-request");
  await choose(page, "Sandbox", "readOnly");
  const permissions = { file_system: { write: [place.work] } };
  await say(
    page,
    script(
      { calls: [{ name: "request_permissions", arguments: { reason: "To write the notes.", permissions } }] },
      command("echo yes > granted"),
      { text: "written" },
    ),
  );
  const card = page.getByRole("region", { name: "May the agent have more permissions?" });
  await card.getByText("To write the notes.").waitFor();
  await card.getByRole("button", { name: "Grant for this turn" }).click();
  await ended(page);
  assert.equal(readFileSync(join(place.work, "granted"), "utf8"), "yes\n");
  clean(page);
});

check("an agent of the agent leads to its thread", async ({ place, person }) => {
  const { url } = await place.serve(0, ["--enable", "multi_agent"]);
  const page = await visit(await person(), url);
  await say(
    page,
    script(
      { calls: [{ name: "spawn_agent", arguments: { message: script({ text: "from below" }), task_name: "below" } }] },
      { text: "from above" },
    ),
  );
  await ended(page);
  const item = page.locator(".item.collabAgentToolCall").first();
  await item.waitFor();
  await item.getByRole("link").first().click();
  await page.getByText("from below", { exact: true }).waitFor();
});
