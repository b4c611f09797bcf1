/** What tokens cost by the prices that the user entered, where the server knows none. */

import type { protocol } from "@quipu/client/websocket";

import { choices } from "./storage.ts";

/** Dollars, or nothing if the model has no prices here. */
export function cost(usage: protocol.TokenUsageBreakdown, model: string | undefined): number | undefined {
  const prices = model === undefined ? undefined : choices().prices[model];
  if (!prices) return undefined;
  const { inputTokens, cachedInputTokens, outputTokens } = usage;
  const fresh = Math.max(0, inputTokens - cachedInputTokens);
  return (fresh * prices.input + cachedInputTokens * prices.cached + outputTokens * prices.output) / 1_000_000;
}
