/** Tokens and their cost, in numbers and as a small plot. */

import type { protocol } from "@quipu/client/websocket";

import { cost } from "./cost.ts";
import { h, svg } from "./dom.ts";
import { count, dollars, tokens } from "./format.ts";
import type { ThreadState } from "./thread.ts";

const BARS = 30;
const [WIDTH, HEIGHT] = [120, 24];

/** What a thread used, with a bar for each of its last turns. */
export function usagePlot(state: ThreadState): HTMLElement | undefined {
  const { usage } = state;
  if (!usage) return undefined;
  const { total, last, modelContextWindow } = usage;
  const price = usage.cost?.thread ?? cost(total, state.settings?.model);
  const share =
    modelContextWindow === null ? "" : ` · context ${Math.round((100 * last.totalTokens) / modelContextWindow)}%`;
  const text = `${tokens(total.totalTokens)} tokens${price === undefined ? "" : ` · ${dollars(price)}`}${share}`;
  const counted = state.turns.flatMap((turn) => (turn.usage ? [turn.usage] : [])).slice(-BARS);
  const title = `${count(total.inputTokens)} read, of which ${count(total.cachedInputTokens)} cached; ${count(total.outputTokens)} written`;
  return h("div", { class: "usage", title }, h("span", {}, text), counted.length > 1 && bars(counted));
}

function bars(turns: protocol.TokenUsageBreakdown[]): HTMLElement {
  const most = Math.max(1, ...turns.map((it) => it.totalTokens));
  const width = WIDTH / turns.length;
  const scale = (value: number) => (value / most) * HEIGHT;
  const shapes = turns.flatMap(({ inputTokens, outputTokens }, at) => {
    const [read, written] = [scale(inputTokens), scale(outputTokens)];
    const bar = (kind: string, y: number, height: number) =>
      svg("rect", { class: kind, x: at * width, y, width: Math.max(1, width - 1), height });
    return [bar("bar-in", HEIGHT - read, read), bar("bar-out", HEIGHT - read - written, written)];
  });
  const label = `Tokens of the last ${turns.length} turns; the most were ${count(most)}`;
  return h(
    "span",
    { class: "plot" },
    svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, role: "img", "aria-label": label },
      ...shapes,
    ),
  );
}
