/** Numbers, times and texts for people. */

/** A number with separators. */
export function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** Tokens in a few characters: `950`, `12.3k`, `4.1M`. */
export function tokens(value: number): string {
  if (value < 1000) return String(value);
  return value < 1_000_000 ? `${(value / 1000).toFixed(1)}k` : `${(value / 1_000_000).toFixed(1)}M`;
}

/** Dollars, with more digits where there are few. */
export function dollars(value: number): string {
  return `$${value < 0.1 ? value.toFixed(4) : value.toFixed(2)}`;
}

/** A duration: `340 ms`, `2.1 s`, `3 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 90_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}

/** How long ago a time in Unix seconds was. */
export function ago(seconds: number, now = Date.now() / 1000): string {
  const past = Math.max(0, now - seconds);
  if (past < 60) return "now";
  if (past < 3600) return `${Math.floor(past / 60)} min`;
  if (past < 86_400) return `${Math.floor(past / 3600)} h`;
  return past < 30 * 86_400 ? `${Math.floor(past / 86_400)} d` : new Date(seconds * 1000).toLocaleDateString();
}

/** The beginning of a text in one line. */
export function short(text: string, length = 80): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`;
}

/** What an error says. */
export function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Any JSON for reading. */
export function json(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
}
