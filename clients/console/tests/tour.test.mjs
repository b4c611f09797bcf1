// A piece of work from beginning to end with a model over HTTP; the screenshots of docs/console.md are made here.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { check, choose, clean, ended, screenshot, say, visit } from "./support.mjs";
import { tell } from "./story.mjs";

const REPORT = `import sys

def main(args):
    rows = [line.split() for line in sys.stdin]
    total = sum(int(count) for _, count in rows)
    print(f"{len(rows)} files, {total} lines")

main(sys.argv[1:])
`;
const PATCH = `*** Begin Patch
*** Update File: report.py
@@
-import sys
+import json
+import sys
 
 def main(args):
     rows = [line.split() for line in sys.stdin]
     total = sum(int(count) for _, count in rows)
-    print(f"{len(rows)} files, {total} lines")
+    if "--json" in args:
+        print(json.dumps({"files": len(rows), "lines": total}))
+    else:
+        print(f"{len(rows)} files, {total} lines")
 
 main(sys.argv[1:])
*** End Patch`;
const plan = (...states) =>
  ["Read the script", "Add the flag", "Try it"].map((step, at) => ({ step, status: states[at] }));
const WALRUS = [{ text: "The garden has **12** beds; the walrus is in the third." }];
const FLAG = [
  {
    reasoning: "**Reading the script first.** The output is printed in one place, so the flag can be read there.",
    text: "I will read the script first.",
    call: ["exec_command", { cmd: "cat report.py" }],
  },
  { call: ["update_plan", { plan: plan("completed", "in_progress", "pending") }] },
  { patch: PATCH },
  { call: ["update_plan", { plan: plan("completed", "completed", "in_progress") }] },
  {
    text: "Now I try it on two files.",
    call: [
      "exec_command",
      {
        cmd: "printf 'a.rs 12\\nb.rs 30\\n' | python3 report.py --json > out.json; cat out.json; printf '\\033[32m1 passed\\033[0m\\n'",
      },
    ],
  },
  { call: ["update_plan", { plan: plan("completed", "completed", "completed") }] },
  {
    text: '`report.py` has a flag **`--json`** now:\n\n| call | prints |\n|---|---|\n| `report.py` | `2 files, 42 lines` |\n| `report.py --json` | `{"files": 2, "lines": 42}` |\n\nThe default output is unchanged.',
  },
];

check("a piece of work, with screenshots", async ({ place, person }) => {
  const story = await tell({ walrus: WALRUS, "--json flag": FLAG });
  try {
    writeFileSync(join(place.home, "config.toml"), story.config);
    place.file("report.py", REPORT);
    const { found: address } = await place.start(["console", "--no-open"], /console: (http:\S+)\n/);
    const context = await person({ viewport: { width: 1080, height: 720 } });
    const page = await visit(context, address);
    await page.evaluate(() =>
      localStorage.setItem(
        "quipu.choices",
        JSON.stringify({ prices: { "story-1": { input: 2, cached: 0.2, output: 8 } } }),
      ),
    );
    await say(page, "Which bed is the walrus in?");
    await ended(page);
    await page.getByRole("link", { name: "New thread" }).click();
    await choose(page, "Approvals", "untrusted");
    await choose(page, "Sandbox", "workspaceWrite");
    await say(page, "Add a --json flag to report.py");
    const changes = page.getByRole("region", { name: "May these changes be made?" });
    await changes.waitFor();
    await changes.getByRole("button", { name: "Allow", exact: true }).click();
    const command = page.getByRole("region", { name: "May this command run?" });
    await command.waitFor();
    await screenshot(page, "console-approval");

    // Elsewhere, the badge says that somebody waits.
    await page.locator(".threads a", { hasText: "walrus" }).click();
    await page.locator(".threads .badge").waitFor();
    await page.getByText("third").waitFor();
    await screenshot(page, "console-badge");
    await page.getByRole("link", { name: "Questions 1" }).click();
    await page.getByRole("button", { name: "Allow once" }).click();
    await page.locator(".threads a", { hasText: "--json" }).click();
    await ended(page);
    assert.equal(readFileSync(join(place.work, "out.json"), "utf8").trim(), '{"files": 2, "lines": 42}');
    await page.getByRole("cell", { name: "report.py --json" }).waitFor();
    await screenshot(page, "console-turn");
    await page.getByRole("button", { name: "Actions of the thread" }).click();
    await page.getByRole("button", { name: "Side-by-side diffs" }).click();
    await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
    await page.locator(".diff.split").scrollIntoViewIfNeeded();
    await screenshot(page, "console-dark");
    await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
    await page.setViewportSize({ width: 390, height: 700 });
    await page.getByRole("cell", { name: "report.py --json" }).waitFor();
    await screenshot(page, "console-phone");
    clean(page);
  } finally {
    story.end();
  }
});
