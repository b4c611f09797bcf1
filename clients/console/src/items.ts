/** What is shown of the items of a turn, a kind at a time. */

import { isItem, type protocol, type ThreadItem } from "@quipu/client/websocket";

import { Terminal } from "./ansi.ts";
import { counts, diffLines, type DiffStyle, diffTable } from "./diff.ts";
import { fill, h, setText } from "./dom.ts";
import { duration, json, short } from "./format.ts";
import { image } from "./links.ts";
import { copyButton, Markdown } from "./markdown.ts";
import type { Row, RowView } from "./virtual.ts";

/** What items need of the page. */
export interface ItemContext {
  /** Whether something that folds is open, by its key. */
  readonly open: Map<string, boolean>;
  readonly diffStyle: DiffStyle;
  /** The bytes of a file of the server, as an address for an image. */
  image(path: string): Promise<string>;
  /** Another thread. */
  threadLink(threadId: string, text: string): HTMLElement;
}

type Item<T extends protocol.ThreadItem["type"]> = Extract<protocol.ThreadItem, { type: T }>;

/** How high an item probably is, before it is measured. */
const GUESSES: Record<string, number> = { userMessage: 64, agentMessage: 140, commandExecution: 110, fileChange: 220 };

/** The row of an item. */
export function itemRow(turnId: string, item: () => ThreadItem | undefined, id: string, context: ItemContext): Row {
  const key = `${turnId}/${id}`;
  const kind = item()?.type ?? "";
  return { key, guess: GUESSES[kind] ?? 48, view: () => new ItemView(key, item, context) };
}

/** An item; the part that shows it stays while it grows. */
class ItemView implements RowView {
  readonly element: HTMLElement = h("div", { class: "row" });
  readonly #item: () => ThreadItem | undefined;
  readonly #update: (item: ThreadItem) => void;

  constructor(key: string, item: () => ThreadItem | undefined, context: ItemContext) {
    this.#item = item;
    const first = item();
    const make = (first && MAKERS[first.type]) ?? unknown;
    const body = h("div", { class: `item ${first?.type ?? ""}` });
    this.element.append(body);
    this.#update = make(body, key, context) as (item: ThreadItem) => void;
  }

  update(): void {
    const item = this.#item();
    if (item) this.#update(item);
  }
}

/** Makes the parts of an item and gives back how to update them. */
type Maker = (body: HTMLElement, key: string, context: ItemContext) => (item: never) => void;

const MAKERS: Record<string, Maker> = {
  userMessage,
  agentMessage,
  reasoning,
  plan: (body) => {
    const text = new Markdown();
    body.append(label("Proposed plan"), text.element);
    return (item: Item<"plan">) => text.show(item.text);
  },
  commandExecution,
  fileChange,
  mcpToolCall: (body, key, context) =>
    toolCall(body, key, context, (item: Item<"mcpToolCall">) => ({
      name: `${item.server} · ${item.tool}`,
      status: item.status,
      input: item.arguments,
      output: item.result
        ? [
            ...item.result.content.map(mcpContent),
            item.result.structuredContent && pre(json(item.result.structuredContent)),
          ]
        : [],
      error: item.error?.message,
      ms: item.durationMs,
    })),
  dynamicToolCall: (body, key, context) =>
    toolCall(body, key, context, (item: Item<"dynamicToolCall">) => ({
      name: item.tool,
      status: item.status,
      input: item.arguments,
      output: (item.contentItems ?? []).map((it) =>
        it.type === "inputText" ? pre(it.text) : image(it.imageUrl, "image of the tool"),
      ),
      error: item.success === false ? "the tool failed" : undefined,
      ms: item.durationMs,
    })),
  collabAgentToolCall: (body, _, context) => (item: Item<"collabAgentToolCall">) =>
    fill(
      body,
      label(`Agent: ${item.tool} · ${item.status}`),
      item.prompt !== null && h("div", { class: "said" }, item.prompt),
      h(
        "div",
        {},
        ...item.receiverThreadIds.map((id) =>
          context.threadLink(id, `${id.slice(-6)}: ${item.agentsStates[id]?.status ?? ""} `),
        ),
      ),
    ),
  webSearch: (body) => (item: Item<"webSearch">) => fill(body, label("Web search"), h("span", {}, item.query)),
  imageView: (body, _, context) => (item: Item<"imageView">) =>
    fill(body, label(`Image ${item.path}`), fileImage(item.path, context)),
  imageGeneration: (body) => (item: Item<"imageGeneration">) =>
    fill(
      body,
      label(`Image · ${item.status}`),
      item.result !== "" && image(`data:image/png;base64,${item.result}`, item.revisedPrompt ?? "generated image"),
    ),
  enteredReviewMode: (body) => (item: Item<"enteredReviewMode">) => fill(body, label(`Review of ${item.review}`)),
  // The message that follows has the text of the review.
  exitedReviewMode: (body) => () => fill(body, label("The review has ended")),
  contextCompaction: (body) => () => fill(body, label("The history was compacted")),
  hookPrompt: (body) => (item: Item<"hookPrompt">) =>
    fill(body, label("Hook"), ...item.fragments.map(({ text }) => h("div", { class: "said" }, text))),
};

function unknown(body: HTMLElement): (item: ThreadItem) => void {
  return (item) => fill(body, label(item.type), pre(json(item)));
}

function label(text: string): HTMLElement {
  return h("div", { class: "label" }, text);
}

function pre(text: string): HTMLElement {
  return h("pre", { class: "plain", tabindex: "0", role: "region", "aria-label": "Output" }, text);
}

/** Something that folds; it remembers whether it is open while it is out of view. */
function folding(
  key: string,
  context: ItemContext,
  isOpen: boolean,
  summary: HTMLElement,
  ...children: Node[]
): HTMLDetailsElement {
  const details = h("details", { open: context.open.get(key) ?? isOpen }, h("summary", {}, summary), ...children);
  details.addEventListener("toggle", () => context.open.set(key, details.open));
  return details;
}

function userMessage(body: HTMLElement, _: string, context: ItemContext): (item: Item<"userMessage">) => void {
  return (item) => fill(body, label("You"), ...item.content.map((input) => userInput(input, context)));
}

function userInput(input: protocol.UserInput, context: ItemContext): HTMLElement {
  switch (input.type) {
    case "text":
      return h("div", { class: "said" }, input.text);
    case "image":
      return image(input.url, "attached image");
    case "localImage":
      return fileImage(input.path, context);
    case "skill":
    case "mention":
      return h("span", { class: "chip" }, input.name);
    default:
      return pre(json(input));
  }
}

function fileImage(path: string, context: ItemContext): HTMLElement {
  const place = h("div", { class: "dim" }, path);
  void context.image(path).then(
    (address) => fill(place, image(address, path)),
    () => setText(place, `${path} (cannot be shown)`),
  );
  return place;
}

function agentMessage(body: HTMLElement): (item: Item<"agentMessage">) => void {
  const text = new Markdown();
  let source = "";
  body.append(
    h(
      "div",
      { class: "label" },
      "Agent ",
      copyButton(() => source),
    ),
    text.element,
  );
  return (item) => text.show((source = item.text));
}

function reasoning(body: HTMLElement, key: string, context: ItemContext): (item: Item<"reasoning">) => void {
  const [title, text] = [h("span", {}), new Markdown()];
  const details = folding(key, context, false, title, text.element);
  body.append(details);
  return (item) => {
    const parts = item.summary.length > 0 ? item.summary : item.content;
    const whole = parts.join("\n\n");
    setText(title, `Reasoning: ${short(whole.replaceAll(/[*#`]/g, ""), 90)}`);
    text.show(whole);
    details.hidden = whole === "";
  };
}

const COMMAND_STATES = { inProgress: "running", completed: "done", failed: "failed", declined: "declined" };

function commandExecution(
  body: HTMLElement,
  key: string,
  context: ItemContext,
): (item: Item<"commandExecution">) => void {
  const [command, state] = [h("code", { class: "command" }), h("span", { class: "state" })];
  const terminal = new Terminal("Output of the command");
  const details = folding(key, context, true, h("span", { class: "summary" }, command, state), terminal.element);
  body.append(details);
  return (item) => {
    setText(command, unwrapped(item.command));
    command.title = `${item.command}\nin ${item.cwd}`;
    const exit = item.exitCode === null ? COMMAND_STATES[item.status] : `exit ${item.exitCode}`;
    setText(state, item.durationMs === null ? exit : `${exit} · ${duration(item.durationMs)}`);
    state.className = `state ${item.status}`;
    terminal.show(item.aggregatedOutput ?? "");
    terminal.element.hidden = (item.aggregatedOutput ?? "") === "";
  };
}

/** A command without the shell that it is given to. */
function unwrapped(command: string): string {
  const inner = /^(?:\S*\/)?(?:ba|z|da)?sh -l?c (['"]?)([\s\S]*)\1$/.exec(command);
  if (!inner) return command;
  const [, quote, text = ""] = inner;
  return quote === '"' ? text.replaceAll(/\\(["\\$`])/g, "$1") : text.replaceAll(`'"'"'`, "'").replaceAll(`'\\''`, "'");
}

function fileChange(body: HTMLElement, key: string, context: ItemContext): (item: Item<"fileChange">) => void {
  let shown = "";
  return (item) => {
    const state = `${json(item.changes)}${context.diffStyle}`;
    const title = h("div", { class: "label" }, `Changes · ${COMMAND_STATES[item.status]}`);
    if (state === shown) return void body.firstChild?.replaceWith(title);
    shown = state;
    fill(body, title, ...item.changes.map((change) => oneChange(`${key}/${change.path}`, change, context)));
  };
}

/** The changes of one file. */
export function oneChange(key: string, change: protocol.FileUpdateChange, context: ItemContext): HTMLElement {
  const lines = diffLines(change.diff, change.kind.type);
  const { added, removed } = counts(lines);
  const moved = change.kind.type === "update" && change.kind.move_path ? ` → ${change.kind.move_path}` : "";
  const summary = h(
    "span",
    { class: "summary" },
    h("code", {}, change.path + moved),
    h(
      "span",
      { class: "state" },
      `${change.kind.type} `,
      h("span", { class: "plus" }, `+${added}`),
      " ",
      h("span", { class: "minus" }, `−${removed}`),
    ),
  );
  return folding(key, context, true, summary, diffTable(lines, context.diffStyle, change.path));
}

interface ToolView {
  name: string;
  status: string;
  input: unknown;
  output: (HTMLElement | null | undefined | false | "" | 0 | true)[];
  error: string | undefined;
  ms: number | null;
}

function toolCall<I>(
  body: HTMLElement,
  key: string,
  context: ItemContext,
  view: (item: I) => ToolView,
): (item: I) => void {
  const [title, state, content] = [h("code", {}), h("span", { class: "state" }), h("div", {})];
  body.append(folding(key, context, false, h("span", { class: "summary" }, title, state), content));
  return (item) => {
    const { name, status, input, output, error, ms } = view(item);
    setText(title, name);
    setText(state, ms === null ? status : `${status} · ${duration(ms)}`);
    state.className = `state ${error === undefined ? status : "failed"}`;
    const nodes = output.filter((it) => it instanceof HTMLElement);
    fill(content, pre(json(input)), ...nodes, error !== undefined && h("div", { class: "problem" }, error));
  };
}

/** A content block of MCP. */
function mcpContent(block: protocol.JsonValue): HTMLElement {
  const { type, text, data, mimeType } = (block ?? {}) as Record<string, string>;
  if (type === "text") return pre(text ?? "");
  if (type === "image") return image(`data:${mimeType};base64,${data}`, "image of the tool");
  return pre(json(block));
}

/** Whether an item is worth a row. */
export function isShown(item: ThreadItem): boolean {
  if (isItem(item, "reasoning")) return item.summary.length > 0 || item.content.length > 0;
  return true;
}
