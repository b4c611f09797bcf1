// What the page shows of others: tools of MCP servers, runners, servers with tokens of their own.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

import { check, choose, clean, ended, screenshot, say, script, visit } from "./support.mjs";

const SERVER = fileURLToPath(new URL("mcp-server.mjs", import.meta.url));

check("MCP tools show text and images, and their questions are forms", async ({ place, person }) => {
  writeFileSync(
    join(place.home, "config.toml"),
    `[mcp_servers.test]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(SERVER)}]\n`,
  );
  const { url } = await place.serve();
  const page = await visit(await person(), url);
  await choose(page, "Approvals", "on-request");
  const call = (name) => ({ calls: [{ name: `mcp__test__${name}`, arguments: {} }] });
  await say(page, script(call("draw"), call("ask"), { text: "drawn and asked" }));
  const card = page.getByRole("region", { name: "A tool asks" });
  await card.getByLabel("Name *").fill("Ada");
  await card.getByLabel("Count").fill("3");
  await card.getByRole("button", { name: "Accept", exact: true }).click();
  await ended(page);
  for (const tool of await page.locator(".item.mcpToolCall summary").all()) await tool.click();
  await page.getByText("<b>a pixel</b>").waitFor();
  assert.equal(await page.getByRole("img", { name: "image of the tool" }).evaluate((it) => it.naturalWidth), 1);
  await page
    .getByText('accept: {"name":"Ada","count":3}')
    .or(page.getByText('accept: {"count":3,"name":"Ada"}'))
    .waitFor();
  await page.getByRole("navigation").getByRole("link", { name: "Settings" }).click();
  await page.getByText("2 tools").waitFor();
  clean(page);
});

check("an image that the agent looks at is shown", async ({ place, person }) => {
  const { url } = await place.serve();
  const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  writeFileSync(join(place.work, "pixel.png"), Buffer.from(pixel, "base64"));
  const page = await visit(await person(), url);
  await say(
    page,
    script({ calls: [{ name: "view_image", arguments: { path: join(place.work, "pixel.png") } }] }, { text: "seen" }),
  );
  await ended(page);
  assert.equal(await page.locator(".item.imageView img").evaluate((it) => it.naturalWidth), 1);
  clean(page);
});

check("a server with its own token asks for it", async ({ place, person }) => {
  const token = "0123456789abcdef0123456789abcdef";
  const file = join(place.home, "token");
  writeFileSync(file, token, { mode: 0o600 });
  const { url } = await place.serve(0, ["--ws-auth", "capability-token", "--ws-token-file", file]);
  const page = await (await person()).newPage();
  await page.goto(url);
  await page.getByLabel("Token").fill("not this one");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("The token was not accepted").waitFor();
  await page.getByLabel("Token").fill(token);
  await page.keyboard.press("Enter");
  await page.getByLabel("Message", { exact: true }).waitFor();
  await page.reload();
  await page.getByLabel("Message", { exact: true }).waitFor();
});

check("runners are shown and asked to do things", async ({ place, person }) => {
  place.file("issues/hello.md", "---\ntitle: Say hello\nstate: Todo\n---\nGreet.\n");
  place.file("WORKFLOW.md", "---\nworkspace:\n  root: workspaces\n---\nWork on {{ issue.title }}.\n");
  const { url } = await place.serve();
  const page = await visit(await person(), url);
  await page.getByRole("navigation").getByRole("link", { name: "Runners" }).click();
  await page.getByText("No runner has run yet").waitFor();
  const runner = await place.start(["runner", "--port", "0"], /dashboard: (http:\S+)/);
  await page.getByRole("cell", { name: "hello", exact: true }).first().waitFor();
  await screenshot(page, "console-runner");
  await page.getByRole("button", { name: "Poll now" }).click();
  await page.locator(".note", { hasText: "refresh" }).waitFor();
  await page
    .getByRole("button", { name: /^(cancel|retry) hello$/ })
    .first()
    .click();
  await page.locator(".note", { hasText: /hello: (cancel|retry)/ }).waitFor();
  await runner.kill("SIGTERM");
  await page.getByText("It is not running.").waitFor();
});

check("what is wrong with the configuration is said", async ({ place, person }) => {
  writeFileSync(
    join(place.home, "config.toml"),
    'approval_policy = "perhaps"\n\n[mcp_servers.gone]\ncommand = "/no/such/program"\n',
  );
  const { url } = await place.serve();
  const page = await visit(await person(), url);
  await page
    .locator(".note.problem", { hasText: "approval_policy" })
    .or(page.locator(".note.problem", { hasText: "config" }))
    .first()
    .waitFor();
  writeFileSync(join(place.home, "config.toml"), '[mcp_servers.gone]\ncommand = "/no/such/program"\n');
  await say(page, script({ text: "all the same" }));
  await ended(page);
  await page.locator(".note.problem", { hasText: "The MCP server gone did not start" }).waitFor();
});
