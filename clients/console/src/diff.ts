/** Patches as unified or side-by-side diffs. */

import { h } from "./dom.ts";

/** A line of a diff: kept, added, removed, or a note between hunks. */
export interface DiffLine {
  kind: "kept" | "added" | "removed" | "note";
  text: string;
  before?: number;
  after?: number;
}

/** How diffs are shown. */
export type DiffStyle = "unified" | "split";

/** Lines beyond this number are shown on request. */
const SHOWN = 400;

/** The lines of an update's hunks, or of a file that is added or deleted as a whole. */
export function diffLines(diff: string, kind: string): DiffLine[] {
  const lines = diff.replace(/\n$/, "").split("\n");
  if (kind === "add" || kind === "delete") {
    const isAdded = kind === "add";
    return lines.map((text, at) =>
      isAdded ? { kind: "added", text, after: at + 1 } : { kind: "removed", text, before: at + 1 },
    );
  }
  let [before, after] = [1, 1];
  return lines.map((line): DiffLine => {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line);
    if (hunk) {
      [before, after] = [Number(hunk[1]), Number(hunk[2])];
      return { kind: "note", text: line };
    }
    const text = line.slice(1);
    if (line.startsWith("+")) return { kind: "added", text, after: after++ };
    if (line.startsWith("-")) return { kind: "removed", text, before: before++ };
    if (line.startsWith("\\")) return { kind: "note", text: line };
    return { kind: "kept", text, before: before++, after: after++ };
  });
}

/** How many lines were added and removed. */
export function counts(lines: DiffLine[]): { added: number; removed: number } {
  const count = (kind: DiffLine["kind"]) => lines.filter((line) => line.kind === kind).length;
  return { added: count("added"), removed: count("removed") };
}

/** The lines as a table. */
export function diffTable(lines: DiffLine[], style: DiffStyle, path: string): HTMLElement {
  const place = h("div", { class: `diff ${style}`, tabindex: "0", role: "region", "aria-label": `Changes of ${path}` });
  const draw = (shown: DiffLine[]) => {
    const rows = style === "split" ? splitRows(shown) : shown.map(unifiedRow);
    place.replaceChildren(h("table", { role: "presentation" }, h("tbody", {}, ...rows)));
  };
  draw(lines.slice(0, SHOWN));
  if (lines.length > SHOWN) {
    const more = h(
      "button",
      { type: "button", class: "quiet", onclick: () => draw(lines) },
      `Show ${lines.length - SHOWN} more lines`,
    );
    place.append(more);
  }
  return place;
}

const SIGNS = { kept: " ", added: "+", removed: "-", note: "" };

function unifiedRow(line: DiffLine): HTMLElement {
  return h(
    "tr",
    { class: line.kind === "note" ? "hunk" : line.kind },
    h("td", { class: "number" }, line.before ?? ""),
    h("td", { class: "number" }, line.after ?? ""),
    h("td", { class: "sign" }, SIGNS[line.kind]),
    h("td", { class: "text" }, line.text),
  );
}

/** Removed lines stand beside those added right after them. */
function splitRows(lines: DiffLine[]): HTMLElement[] {
  const rows: HTMLElement[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at];
    if (!line) break;
    if (line.kind === "note") {
      rows.push(h("tr", { class: "hunk" }, h("td", { class: "text", colspan: "4" }, line.text)));
      at++;
      continue;
    }
    if (line.kind === "kept") {
      rows.push(h("tr", {}, ...half(line, line.before), ...half(line, line.after)));
      at++;
      continue;
    }
    const run = (kind: DiffLine["kind"]) => {
      const from = at;
      while (lines[at]?.kind === kind) at++;
      return lines.slice(from, at);
    };
    const [removed, added] = [run("removed"), run("added")];
    for (let row = 0; row < Math.max(removed.length, added.length); row++) {
      rows.push(h("tr", {}, ...half(removed[row], removed[row]?.before), ...half(added[row], added[row]?.after)));
    }
  }
  return rows;
}

function half(line: DiffLine | undefined, number: number | undefined): HTMLElement[] {
  const kind = line?.kind ?? "none";
  return [h("td", { class: `number ${kind}` }, number ?? ""), h("td", { class: `text ${kind}` }, line?.text ?? "")];
}
