// What becomes of Markdown, and that it is the same whether it comes at once or in pieces.
import assert from "node:assert/strict";

import { check, clean, ended, say, script, visit } from "./support.mjs";

const link = (href, text) =>
  `<span><a href="${href}" target="_blank" rel="noopener noreferrer nofollow" title="${href}">${text}</a></span>`;

/** Sources and the nodes that they become. */
const CASES = [
  ["plain", "<p>plain</p>"],
  ["one\ntwo", "<p>one\ntwo</p>"],
  ["a  \nb", "<p>a<br>b</p>"],
  [
    "**b** *i* _i_ __b__ ~~s~~ `c`",
    "<p><strong>b</strong> <em>i</em> <em>i</em> <strong>b</strong> <s>s</s> <code>c</code></p>",
  ],
  ["snake_case_name and 2*3*4", "<p>snake_case_name and 2*3*4</p>"],
  ["***both***", "<p><strong><em>both</em></strong></p>"],
  ["`` a ` b `` and \\*no\\*", "<p><code>a ` b</code> and *no*</p>"],
  ["- a\n- b\n  - c\n\ntext", "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul><p>text</p>"],
  ["3. three\n4. four", '<ol start="3"><li>three</li><li>four</li></ol>'],
  [
    "- [x] done\n- [ ] open",
    '<ul><li><span class="task" role="img" aria-label="done">☑ </span>done</li><li><span class="task" role="img" aria-label="open">☐ </span>open</li></ul>',
  ],
  ["> quoted\n> more", "<blockquote><p>quoted\nmore</p></blockquote>"],
  ["---", "<hr>"],
  ["<https://example.com/a>", `<p>${link("https://example.com/a", "https://example.com/a")}</p>`],
  [
    "see https://example.com/a?b=c.",
    `<p>see ${link("https://example.com/a?b=c", "https://example.com/a?b=c").replaceAll("&", "&amp;")}.</p>`,
  ],
  ["a & b < c", "<p>a &amp; b &lt; c</p>"],
  ["text\n- item", "<p>text</p><ul><li>item</li></ul>"],
];

check("Markdown becomes nodes", async ({ place, person }) => {
  const { url } = await place.serve();
  const page = await visit(await person(), url);
  const shown = () =>
    page
      .locator(".item.agentMessage .markdown")
      .last()
      .evaluate((it) => it.innerHTML);
  for (const [source, nodes] of CASES) {
    await say(page, script({ text: source }));
    await page.getByRole("button", { name: "Send" }).waitFor();
    await ended(page);
    await page.waitForFunction(
      (count) => Number(document.querySelector(".row")?.getAttribute("aria-setsize")) === count,
      3 * (CASES.findIndex(([it]) => it === source) + 1),
    );
    assert.equal(await shown(), nodes, source);
  }
  clean(page);
});

check("a text in pieces is shown like the whole", async ({ place, person }) => {
  const { url } = await place.serve();
  const page = await visit(await person(), url);
  const text = `${CASES.map(([source]) => source).join("\n\n")}\n\n\`\`\`js\nlet a = 1;\n\n# not a heading\n\`\`\`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n${"long ".repeat(3000)}`;
  const pieces = text.match(/[\s\S]{1,40}/g);
  await say(page, script({ deltas: pieces }));
  await ended(page);
  const messages = () =>
    page.locator(".item.agentMessage .markdown").evaluateAll((all) => all.map((it) => it.innerHTML));
  const streamed = (await messages()).at(-1);
  // A new page gets it at once.
  await page.reload();
  await page.locator(".item.agentMessage .markdown").waitFor();
  assert.equal((await messages()).at(-1), streamed);
  clean(page);
});
