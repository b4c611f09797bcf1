/**
 * Markdown as nodes. What is not understood stays text, markup included; links lead where `links.ts` lets them, and
 * nothing is loaded. Text that grows is parsed again from its last block only.
 */

import { h } from "./dom.ts";
import { image, link } from "./links.ts";

/** Deeper nesting is shown flat, so that no text can exhaust the stack. */
const DEPTH = 12;

/** A longer paragraph is shown as several, so that the last one, which may grow, is cheap to make again. */
const LONG = 4096;

/** A text that may grow, shown as Markdown. */
export class Markdown {
  readonly element: HTMLElement = h("div", { class: "markdown" });
  #source = "";
  /** Where each shown block begins. */
  #starts: number[] = [];

  /** Shows a text; only the part that changed is made again. */
  show(source: string): void {
    if (source === this.#source) return;
    const keeps = source.startsWith(this.#source) && this.#starts.length > 0;
    const from = keeps ? (this.#starts.at(-1) ?? 0) : 0;
    if (keeps) {
      this.element.lastChild?.remove();
      this.#starts.pop();
    } else {
      this.element.replaceChildren();
      this.#starts = [];
    }
    this.#source = source;
    for (const { start, node } of blocks(source.slice(from), 0)) {
      this.#starts.push(from + start);
      this.element.append(node);
    }
  }
}

/** A text as Markdown, once. */
export function markdown(source: string): HTMLElement {
  const shown = new Markdown();
  shown.show(source);
  return shown.element;
}

interface Block {
  start: number;
  node: Node;
}

// None of these may take more than linear time, whatever the line.
const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t](.*))?$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)/;
const QUOTE = /^ {0,3}> ?/;
const DELIMITERS = /^[-|: ]{1,1000}$/;

/** The blocks of a text with their positions in it. */
function* blocks(source: string, depth: number): Generator<Block> {
  const lines = source.split("\n");
  let [at, position] = [0, 0];
  const take = (count: number): string[] => {
    const taken = lines.slice(at, at + count);
    position += taken.reduce((sum, line) => sum + line.length + 1, 0);
    at += count;
    return taken;
  };
  while (at < lines.length) {
    const line = lines[at] ?? "";
    const start = position;
    if (line.trim() === "") {
      take(1);
      continue;
    }
    const count = length(lines, at);
    const taken = take(count);
    const text = taken.join("\n");
    if (text.length <= LONG || !isParagraph(taken)) yield { start, node: block(taken, depth) };
    else
      for (const piece of pieces(text))
        yield { start: start + piece.start, node: h("p", {}, ...inline(piece.text, depth)) };
  }
}

function isParagraph([first = "", second = ""]: string[]): boolean {
  return (
    !FENCE.test(first) &&
    !HEADING.test(first) &&
    !ITEM.test(first) &&
    !QUOTE.test(first) &&
    !(first.includes("|") && isDelimiter(second))
  );
}

/** Parts of a long paragraph, cut at blanks. */
function* pieces(text: string): Generator<{ start: number; text: string }> {
  for (let start = 0; start < text.length;) {
    const blank = text.indexOf(" ", start + LONG);
    const end = blank === -1 || blank > start + 2 * LONG ? start + LONG : blank + 1;
    yield { start, text: text.slice(start, end) };
    start = end;
  }
}

/** How many lines belong to the block that begins at a line. */
function length(lines: string[], at: number): number {
  const line = lines[at] ?? "";
  const fence = FENCE.exec(line);
  if (fence) {
    const mark = fence[1] ?? "```";
    const isEnd = (it: string) => new RegExp(`^ {0,3}\\${mark[0]}{${mark.length},}\\s*$`).test(it);
    const end = lines.findIndex((it, index) => index > at && isEnd(it));
    return (end === -1 ? lines.length : end + 1) - at;
  }
  if (HEADING.test(line) || RULE.test(line)) return 1;
  if (ITEM.test(line)) return listLength(lines, at);
  let count = 1;
  if (QUOTE.test(line)) {
    while ((lines[at + count] ?? "").trim() !== "") count++;
    return count;
  }
  while (at + count < lines.length && !interrupts(lines[at + count] ?? "")) count++;
  return count;
}

/** Whether a line ends the paragraph before it. */
function interrupts(line: string): boolean {
  return (
    line.trim() === "" ||
    FENCE.test(line) ||
    HEADING.test(line) ||
    RULE.test(line) ||
    QUOTE.test(line) ||
    /^ {0,3}(?:[-*+]|1[.)]) /.test(line)
  );
}

function listLength(lines: string[], at: number): number {
  const isOrdered = /^ *\d/.test(lines[at] ?? "");
  let count = 1;
  while (at + count < lines.length) {
    const line = lines[at + count] ?? "";
    const next = line.trim() === "" ? nextLine(lines, at + count) : "";
    const isSame = (it: string) => ITEM.test(it) && /^ *\d/.test(it) === isOrdered;
    if (
      line.trim() === ""
        ? !(isSame(next) || /^ {2,}/.test(next))
        : !(isSame(line) || /^ {2,}/.test(line) || (lines[at + count - 1]?.trim() !== "" && !interrupts(line)))
    )
      break;
    count++;
  }
  return count;
}

/** Whether a line is the one below the head of a table. */
function isDelimiter(line: string): boolean {
  return DELIMITERS.test(line.trim()) && line.includes("-");
}

/** The first line from a place on that is not blank. */
function nextLine(lines: string[], from: number): string {
  let at = from;
  while (at < lines.length && lines[at]?.trim() === "") at++;
  return lines[at] ?? "";
}

function block(lines: string[], depth: number): Node {
  const [first = ""] = lines;
  const fence = FENCE.exec(first);
  if (fence) return code(lines, fence);
  const heading = HEADING.exec(first);
  if (heading) {
    const level = heading[1]?.length ?? 1;
    // The page has one of the first level already, and many texts begin with the second.
    return h(
      "div",
      { class: `heading h${level}`, role: "heading", "aria-level": String(Math.max(2, level)) },
      ...inline(withoutClosing(heading[2] ?? ""), depth),
    );
  }
  if (RULE.test(first)) return h("hr");
  if (depth < DEPTH && ITEM.test(first)) return list(lines, depth);
  if (depth < DEPTH && QUOTE.test(first)) {
    const inner = lines.map((line) => line.replace(QUOTE, "")).join("\n");
    return h("blockquote", {}, ...[...blocks(inner, depth + 1)].map(({ node }) => node));
  }
  if (lines.length > 1 && first.includes("|") && isDelimiter(lines[1] ?? "")) return table(lines, depth);
  return h("p", {}, ...inline(lines.map((line) => line.replace(/^ {1,3}/, "")).join("\n"), depth));
}

/** The text of a heading without the marks that may close it. */
function withoutClosing(text: string): string {
  const trimmed = text.trim();
  let end = trimmed.length;
  while (trimmed[end - 1] === "#") end--;
  return end === 0 || trimmed[end - 1] === " " ? trimmed.slice(0, end).trimEnd() : trimmed;
}

function code(lines: string[], fence: RegExpExecArray): HTMLElement {
  const mark = fence[1] ?? "```";
  const isClosed = lines.length > 1 && new RegExp(`^ {0,3}\\${mark[0]}{${mark.length},}\\s*$`).test(lines.at(-1) ?? "");
  const text = lines.slice(1, isClosed ? -1 : undefined).join("\n");
  const language = (fence[2] ?? "").trim().split(/\s/)[0] ?? "";
  return h(
    "div",
    { class: "code-block" },
    h(
      "div",
      { class: "code-head" },
      h("span", {}, language),
      copyButton(() => text),
    ),
    h(
      "pre",
      { tabindex: "0", role: "region", "aria-label": language ? `${language} code` : "Code" },
      h("code", {}, text),
    ),
  );
}

/** A button that copies a text. */
export function copyButton(text: () => string): HTMLElement {
  const button = h("button", { class: "quiet small", type: "button", onclick: () => void copy() }, "Copy");
  const copy = async () => {
    await navigator.clipboard?.writeText(text());
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  };
  return button;
}

function list(lines: string[], depth: number): HTMLElement {
  const items: string[][] = [];
  let indent = 2;
  for (const line of lines) {
    const mark = ITEM.exec(line);
    // What stands below the text of an item belongs to it.
    if (mark && (items.length === 0 || (mark[1]?.length ?? 0) < indent)) {
      indent = mark[0].length;
      items.push([line.slice(mark[0].length)]);
    } else {
      items.at(-1)?.push(line.replace(new RegExp(`^ {0,${indent}}`), ""));
    }
  }
  const start = /^ *(\d+)/.exec(lines[0] ?? "")?.[1];
  const isLoose = items.some((item, index) =>
    item.some((line, at) => line.trim() === "" && (at < item.length - 1 || index < items.length - 1)),
  );
  const nodes = items.map((item) => {
    const task = /^\[([ xX])\]\s+/.exec(item[0] ?? "");
    if (task) item[0] = (item[0] ?? "").slice(task[0].length);
    const inner = [...blocks(item.join("\n"), depth + 1)].map(({ node }) => node);
    const flat = inner.flatMap((node) =>
      !isLoose && node instanceof HTMLParagraphElement ? [...node.childNodes] : [node],
    );
    const box =
      task &&
      h(
        "span",
        { class: "task", role: "img", "aria-label": task[1] === " " ? "open" : "done" },
        task[1] === " " ? "☐ " : "☑ ",
      );
    return h("li", {}, box, ...flat);
  });
  return start === undefined ? h("ul", {}, ...nodes) : h("ol", { start }, ...nodes);
}

function table(lines: string[], depth: number): HTMLElement {
  const cells = (line: string) =>
    line
      .trim()
      .replace(/^\||\|$/g, "")
      .split(/(?<!\\)\|/)
      .map((it) => it.trim().replaceAll("\\|", "|"));
  const [head = "", , ...rows] = lines;
  const columns = cells(head);
  const row = (tag: "th" | "td", texts: string[]) =>
    h(
      "tr",
      {},
      ...columns.map((_, at) => h(tag, tag === "th" ? { scope: "col" } : {}, ...inline(texts[at] ?? "", depth))),
    );
  const body = h("tbody", {}, ...rows.map((line) => row("td", cells(line))));
  return h(
    "div",
    { class: "table", tabindex: "0", role: "region", "aria-label": "Table" },
    h("table", {}, h("thead", {}, row("th", columns)), body),
  );
}

/** What may stand within a line; of two that begin at one place, the first wins. */
const SPANS = [
  /\\(?<escaped>[!-/:-@[-`{-~])/,
  /(?<ticks>`+)(?<code>[\s\S]*?[^`])\k<ticks>(?!`)/,
  /(?<bang>!?)\[(?<label>(?:[^[\]\\]|\\.|\[[^\]]*\])*)\]\(\s*<?(?<target>[^\s)>]*)>?(?:\s+["'(][^"')]*["')])?\s*\)/,
  /<(?<angle>(?:https?:\/\/|mailto:)[^\s<>]+)>/,
  /\b(?<bare>https?:\/\/[^\s<>()[\]"'`]+[^\s<>()[\]"'`.,;:!?*_~])/,
  /(?<two>\*\*|__)(?=\S)(?<strong>[\s\S]*?\S)\k<two>(?![*_])/,
  /(?<one>\*|_)(?=[^\s*_])(?<emphasis>(?:[^*_]|\\.|(?<=\w)_(?=\w))*?[^\s*_])\k<one>(?!\w)/,
  /~~(?=\S)(?<struck>[\s\S]*?\S)~~/,
  /(?: {2,}|\\)\n/,
];
const INLINE = new RegExp(SPANS.map(({ source }) => source).join("|"));

/** The nodes of a line or a paragraph. */
export function inline(text: string, depth: number): (Node | string)[] {
  if (depth >= DEPTH) return [text];
  // What is within a line is searched for its end, so that long lines are looked at in parts.
  if (text.length > 2 * LONG) return [...pieces(text)].flatMap((piece) => inline(piece.text, depth));
  const nodes: (Node | string)[] = [];
  let rest = text;
  for (let found = INLINE.exec(rest); found; found = INLINE.exec(rest)) {
    if (found.index > 0) nodes.push(rest.slice(0, found.index));
    nodes.push(span(found, depth));
    rest = rest.slice(found.index + found[0].length);
  }
  if (rest !== "") nodes.push(rest);
  return nodes;
}

function span(found: RegExpExecArray, depth: number): Node | string {
  const { escaped, code: text, bang, label, target, angle, bare, strong, emphasis, struck } = found.groups ?? {};
  if (escaped !== undefined) return escaped;
  if (text !== undefined) return h("code", {}, text.replace(/^ (.+) $/s, "$1"));
  if (target !== undefined) {
    if (bang === "!") return image(target, label ?? "");
    return link(target, ...inline(label ?? "", depth + 1));
  }
  if (angle !== undefined) return link(angle, angle);
  if (bare !== undefined) return link(bare, bare);
  if (strong !== undefined) return h("strong", {}, ...inline(strong, depth + 1));
  if (emphasis !== undefined) return h("em", {}, ...inline(emphasis, depth + 1));
  if (struck !== undefined) return h("s", {}, ...inline(struck, depth + 1));
  return h("br");
}
