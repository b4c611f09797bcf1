// Long threads and fast streams in the browser. Times are printed and never judged, since they are those of the
// machine; docs/console.md has the figures of a quiet one.
import assert from "node:assert/strict";

import { check, clean, ended, say, script, visit } from "./support.mjs";

/** Records the time between frames until it is told to stop. */
const watchFrames = () => {
  const frames = [];
  let last = performance.now();
  const next = (now) => {
    frames.push(now - last);
    last = now;
    window.frameWatch = requestAnimationFrame(next);
  };
  window.frameWatch = requestAnimationFrame(next);
  window.framesSeen = () => {
    cancelAnimationFrame(window.frameWatch);
    const sorted = frames.slice(1).sort((one, other) => one - other);
    const at = (share) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
    return { frames: sorted.length, median: at(0.5), p95: at(0.95), longest: at(1) };
  };
};

const shown = ({ frames, median, p95, longest }) =>
  `${frames} frames, median ${median.toFixed(1)} ms, 95% ${p95.toFixed(1)} ms, longest ${longest.toFixed(1)} ms`;

check("the page paints and connects", async ({ place, person }) => {
  const { url } = await place.serve();
  const page = await visit(await person(), url);
  const { paint, ready } = await page.evaluate(() => ({
    paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
    ready: performance.now(),
  }));
  console.log(`first paint ${paint.toFixed(0)} ms, connected and ready ${ready.toFixed(0)} ms`);
  assert.ok(paint > 0);
});

check("a thread of 2,000 turns scrolls", async ({ place, person }) => {
  const thread = await place.longThread(2000);
  const { url } = await place.serve();
  const page = await visit(await person(), url, `#/t/${thread}`);
  await page.locator(".foot").last().waitFor();
  const turns = await page.locator(".row").first().getAttribute("aria-setsize");
  assert.ok(Number(turns) >= 8000, turns);
  const opened = await page.evaluate(() => performance.now());
  // Up through the thread by the wheel's steps, a frame at a time, and by a jump to the start.
  await page.evaluate(watchFrames);
  const made = await page.evaluate(async () => {
    const list = document.querySelector(".transcript");
    let most = 0;
    for (let step = 0; step < 300; step++) {
      list.scrollTop -= 160;
      await new Promise(requestAnimationFrame);
      most = Math.max(most, list.querySelectorAll(".row").length);
    }
    return most;
  });
  const frames = await page.evaluate(() => window.framesSeen());
  console.log(
    `2,000 turns: open after ${opened.toFixed(0)} ms; scrolling: ${shown(frames)}; at most ${made} rows made`,
  );
  assert.ok(made < 120, `${made} rows`);
  await page.evaluate(() => (document.querySelector(".transcript").scrollTop = 0));
  await page.locator('.row[aria-posinset="1"]').waitFor();
  await page.getByRole("button", { name: "↓ Latest" }).click();
  await page.locator(`.row[aria-posinset="${turns}"]`).waitFor();
  // What is in view stays where it is while heights above it become known.
  const drift = await page.evaluate(async () => {
    const list = document.querySelector(".transcript");
    const frames = async () => {
      for (let frame = 0; frame < 6; frame++) await new Promise(requestAnimationFrame);
    };
    list.scrollTop -= 5000;
    await frames();
    const row = [...list.querySelectorAll(".row")].find(
      (it) => it.getBoundingClientRect().top >= list.getBoundingClientRect().top,
    );
    const before = row.getBoundingClientRect().top;
    list.scrollTop -= 10;
    await frames();
    return row.getBoundingClientRect().top - before;
  });
  assert.ok(Math.abs(drift - 10) < 2, `${drift} px`);
  clean(page);
});

check("a stream of 20,000 deltas stays smooth", async ({ place, person }) => {
  const { url } = await place.serve();
  const page = await visit(await person(), url);
  let sockets = 0;
  page.on("websocket", () => sockets++);
  await page.evaluate(watchFrames);
  await say(page, script({ deltas: 20_000, size: 8 }));
  await ended(page);
  const frames = await page.evaluate(() => window.framesSeen());
  console.log(`20,000 deltas: ${shown(frames)}`);
  const length = await page.evaluate(() => document.querySelector(".item.agentMessage .markdown").textContent.length);
  assert.ok(length > 150_000, `${length} characters`);
  assert.equal(sockets, 0, "the page kept up with the server");
  clean(page);
});

check("output of many megabytes is bounded", async ({ place, person }) => {
  const { url } = await place.serve();
  const page = await visit(await person(), url);
  await say(
    page,
    script(
      { calls: [{ name: "exec_command", arguments: { cmd: "seq 1 200000", yield_time_ms: 10000 } }] },
      { text: "counted" },
    ),
  );
  await ended(page);
  const length = await page.locator(".terminal").evaluate((it) => it.textContent.length);
  assert.ok(length > 1000 && length <= 260_000, `${length} characters`);
  clean(page);
});
