// From the first page to a finished turn, and what belongs to a turn.
import assert from "node:assert/strict";

import { check, choose, clean, ended, say, script, visit } from "./support.mjs";

const command = (cmd, more = {}) => ({ calls: [{ name: "exec_command", arguments: { cmd, ...more } }] });

check("a turn with an approval, from `quipu console` to its end", async ({ place, person: newPerson }) => {
  const { found: address } = await place.start(
    ["console", "--no-open", "-c", 'model_provider="offline"'],
    /console: (http:\S+)\n/,
  );
  const person = await newPerson();
  const page = await visit(person, address);
  assert.equal(new URL(page.url()).hash, "", "the code does not stay in the address");
  await choose(page, "Approvals", "untrusted");
  await choose(page, "Sandbox", "workspaceWrite");
  await say(
    page,
    script({ text: "Let me look.", ...command("echo made > file.txt && cat file.txt") }, { text: "It is **done**." }),
  );
  const card = page.getByRole("region", { name: "May this command run?" });
  await card.waitFor();
  await card.getByRole("button", { name: "Allow once" }).click();
  await ended(page);
  assert.equal(await card.count(), 0);
  await page.locator("strong", { hasText: "done" }).waitFor();
  await page.locator(".terminal", { hasText: "made" }).waitFor();
  await page.getByText("exit 0", { exact: false }).waitFor();
  clean(page);

  // The address is good once; the browser that used it stays admitted, another one is not.
  await visit(person, address);
  const stranger = await (await newPerson()).newPage();
  await stranger.goto(address);
  await stranger.getByRole("alert").getByText("the code is not valid").waitFor();
});
