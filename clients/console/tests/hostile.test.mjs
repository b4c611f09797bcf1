// What a model, a file or a command says can never run, load or lead astray.
import assert from "node:assert/strict";

import { check, choose, clean, ended, say, script, visit } from "./support.mjs";

const SVG = `<svg xmlns="http://www.w3.org/2000/svg" onload="window.owned=1"><script>window.owned=1</script></svg>`;
const DATA = `data:image/svg+xml;base64,${Buffer.from(SVG).toString("base64")}`;

const TEXT = [
  "<script>window.owned = 1</script>",
  "<img src=x onerror='window.owned=1'> <b>bold?</b>",
  SVG,
  "<iframe src='javascript:window.owned=1'></iframe>",
  "[run](javascript:window.owned=1) [data](data:text/html,<script>window.owned=1</script>) [vb](vbscript:x)",
  "[upper](JaVaScRiPt:window.owned=1) [tab](java\tscript:window.owned=1) <javascript:window.owned=1>",
  "[https://bank.example](https://evil.example/login)",
  "![remote](https://evil.example/pixel.png) ![inline](" + DATA + ")",
  "| a | b |\n|---|---|\n| <img src=x onerror=window.owned=1> | `</code><script>window.owned=1</script>` |",
  "```html\n</code></pre><script>window.owned=1</script>\n```",
  "&lt;script&gt; &#x3c;script> \u202Egpj.exe",
  "[ref]: https://evil.example\n\n[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[" + "](",
  ">".repeat(3000) + " deep",
  "*".repeat(3000) + "_".repeat(3000),
  `${"- ".repeat(500)}nested`,
].join("\n\n");

check("hostile Markdown is text", async ({ place, person }) => {
  const { url } = await place.serve();
  const page = await visit(await person(), url);
  await say(page, script({ reasoning: TEXT, text: TEXT }));
  await ended(page);
  const message = page.locator(".item.agentMessage .markdown");
  await message.waitFor();
  assert.equal(await page.evaluate(() => "owned" in window), false);
  assert.equal(await page.locator(".transcript :is(script, iframe, svg, object, embed, b)").count(), 0);
  assert.ok((await message.innerText()).includes("<script>window.owned = 1</script>"));
  // Nothing leads to code, and a link that pretends to be another address says where it leads.
  const targets = await page.locator(".transcript a").evaluateAll((links) => links.map((it) => it.href));
  assert.ok(targets.length > 0);
  for (const target of targets) assert.match(target, /^(https?|mailto):/);
  await message.getByText("(evil.example)").first().waitFor();
  for (const rel of await message.locator("a").evaluateAll((links) => links.map((it) => it.rel)))
    assert.match(rel, /noopener noreferrer/);
  assert.equal(await message.locator("img[src^='http']").count(), 0);
  clean(page);
});

check("no text takes long to show", async ({ place, person }) => {
  const { url } = await place.serve();
  const page = await visit(await person(), url);
  const many = (piece, count = 20_000) => piece.repeat(count);
  const texts = [
    many("["),
    many("[a"),
    many("![a]("),
    many("**a"),
    many("_a "),
    many("`a"),
    many("~~"),
    many("<http"),
    `# ${many(" ")}x`,
    `#${many("#")}`,
    `\`\`\`${many(" ")}\``,
    `a|b\n${many(" ")}x`,
    `|${many("-|")}\n|${many("-|")}`,
    many("- a\n\n", 3000),
    many("> ", 3000),
    many("1. ", 3000),
    many("https://a.b/", 5000),
    many("\\"),
  ];
  await say(page, script({ text: texts.join("\n\n") }));
  const start = Date.now();
  await ended(page);
  await page.evaluate(() => new Promise(requestAnimationFrame));
  const took = Date.now() - start;
  console.log(`hostile text: ${took} ms`);
  clean(page);
});

check("hostile output, names and diffs are text", async ({ place, person }) => {
  const { url } = await place.serve();
  place.file(
    "out.sh",
    `printf '\\033[31mred\\033[0m \\033]0;owned\\007 \\033]8;;javascript:window.owned=1\\007link\\033]8;;\\007 <img src=x onerror=window.owned=1>\\n\\033[2J\\033[999;999H\\033[?1049h\\033P+q\\033\\\\ end\\n'`,
  );
  const page = await visit(await person(), url);
  await choose(page, "Sandbox", "workspaceWrite");
  const patch =
    "*** Begin Patch\n*** Add File: <img src=x onerror=window.owned=1>.html\n+<script>window.owned=1</script>\n*** End Patch";
  await say(
    page,
    script({ calls: [{ name: "exec_command", arguments: { cmd: "sh out.sh" } }] }, { patch }, { text: "seen" }),
  );
  await ended(page);
  const terminal = page.locator(".terminal");
  await terminal.locator(".t-fg1", { hasText: "red" }).waitFor();
  const shown = await terminal.innerText();
  assert.ok(
    shown.includes("<img src=x onerror=window.owned=1>") && shown.includes("link") && shown.includes("end"),
    shown,
  );
  // eslint-disable-next-line no-control-regex
  assert.doesNotMatch(shown, /[\x00-\x08\x0b-\x1f]/);
  await page.locator(".diff .added", { hasText: "<script>window.owned=1</script>" }).first().waitFor();
  assert.equal(await page.evaluate(() => "owned" in window), false);
  assert.equal(await page.locator("main :is(script, iframe, img)").count(), 0);
  clean(page);
});

check("the browser itself refuses markup and foreign requests", async ({ place, person }) => {
  const { url } = await place.serve();
  const page = await visit(await person(), url);
  const refused = await page.evaluate(async () => {
    const tried = async (run) => {
      try {
        await run();
        return "allowed";
      } catch {
        return "refused";
      }
    };
    return {
      markup: await tried(() => (document.body.innerHTML = "<p>x</p>")),
      // Not at once: what the test runs directly is exempt.
      evaluation: await tried(
        () =>
          new Promise((resolve, reject) =>
            setTimeout(() => {
              try {
                resolve((0, eval)("1"));
              } catch (error) {
                reject(error);
              }
            }),
          ),
      ),
      request: await tried(() => fetch("http://127.0.0.1:1/")),
      socket: await tried(
        () =>
          new Promise((resolve, reject) => {
            const socket = new WebSocket("ws://127.0.0.1:1/");
            socket.onopen = resolve;
            socket.onerror = reject;
          }),
      ),
    };
  });
  assert.deepEqual(refused, { markup: "refused", evaluation: "refused", request: "refused", socket: "refused" });
  assert.equal(page.problems.filter((it) => it.includes("Content Security Policy")).length > 0, true);
});
