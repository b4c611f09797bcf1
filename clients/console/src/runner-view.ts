/** The runners of this user: what they work on, what waits, and what can be done about it. */

import { note } from "./dialog.ts";
import { fill, h } from "./dom.ts";
import { count, said } from "./format.ts";
import { ask } from "./token.ts";

const EVERY_MS = 2000;

type Values = Record<string, unknown>;

interface Runner {
  name: string;
  state?: Values;
  error?: string;
}

/** The parts of a runner's state that are tables, and the columns of each. */
const TABLES: [part: string, title: string, columns: [string, string][]][] = [
  [
    "running",
    "Running",
    [
      ["issue_identifier", "Issue"],
      ["state", "State"],
      ["turn_count", "Turns"],
      ["tokens.total_tokens", "Tokens"],
      ["last_message", "Last message"],
    ],
  ],
  [
    "retrying",
    "Retrying",
    [
      ["issue_identifier", "Issue"],
      ["attempt", "Attempt"],
      ["due_at", "Due"],
      ["error", "Error"],
    ],
  ],
  [
    "waiting",
    "Waiting",
    [
      ["issue_identifier", "Issue"],
      ["state", "State"],
      ["reason", "Reason"],
    ],
  ],
];

/** The tab of the runners. */
export class RunnerView {
  readonly element: HTMLElement;
  readonly #place = h("div", {}, "Loading…");
  #timer: ReturnType<typeof setTimeout> | undefined;
  #shown = "";

  constructor() {
    this.element = h(
      "section",
      { class: "page", "aria-labelledby": "runner-title", tabindex: "-1" },
      h("h1", { id: "runner-title" }, "Runners"),
      this.#place,
    );
  }

  /** Keeps the view current until `hide`. */
  async show(): Promise<void> {
    this.hide();
    await this.#load();
    this.#timer = setTimeout(() => void this.show(), EVERY_MS);
  }

  hide(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #load(): Promise<void> {
    try {
      const { runners } = (await ask("runners")) as { runners: Runner[] };
      // A view that did not change is left alone, and with it the focus.
      const shown = JSON.stringify(runners);
      if (shown === this.#shown) return;
      this.#shown = shown;
      if (runners.length === 0)
        fill(
          this.#place,
          h("p", { class: "dim" }, "No runner has run yet. `quipu runner` works through the issues of a tracker."),
        );
      else fill(this.#place, ...runners.map((it) => this.#runner(it)));
    } catch (error) {
      this.#shown = "";
      fill(this.#place, h("p", { class: "problem" }, said(error)));
    }
  }

  #runner({ name, state, error }: Runner): HTMLElement {
    const act = (action: string, issue?: string) => void this.#act(name, action, issue);
    const head = h(
      "h2",
      {},
      name,
      " ",
      state && h("button", { type: "button", onclick: () => act("refresh") }, "Poll now"),
    );
    if (!state)
      return h(
        "div",
        {},
        head,
        h("p", { class: error === undefined ? "dim" : "problem" }, error ?? "It is not running."),
      );
    const today = at(state, "today.total_tokens");
    const tables = TABLES.map(([part, title, columns]) => {
      const rows = (state[part] as Values[] | undefined) ?? [];
      return rows.length > 0 && this.#table(title, columns, rows, part, act);
    });
    const counts = ["running", "retrying", "waiting", "completed"].map(
      (it) => `${shownValue(at(state, `counts.${it}`))} ${it}`,
    );
    const line = `${counts.join(", ")}. Today: ${count(Number(today ?? 0))} tokens, cost ${shownValue(at(state, "today.cost"))}.`;
    const problems = [state["config_error"], state["last_error"]].filter((it) => it !== null && it !== undefined);
    return h(
      "div",
      {},
      head,
      h("p", { class: "dim" }, line),
      ...problems.map((it) => h("p", { class: "problem" }, shownValue(it))),
      ...tables,
    );
  }

  #table(
    title: string,
    columns: [string, string][],
    rows: Values[],
    part: string,
    act: (action: string, issue: string) => void,
  ): HTMLElement {
    const head = h(
      "tr",
      {},
      ...columns.map(([, text]) => h("th", { scope: "col" }, text)),
      h("th", { scope: "col" }, "Actions"),
    );
    const body = rows.map((row) => {
      const issue = String(row["issue_identifier"] ?? "");
      const button = (action: string) =>
        h(
          "button",
          { type: "button", class: "small", "aria-label": `${action} ${issue}`, onclick: () => act(action, issue) },
          action,
        );
      // A session is called by its thread and its turn.
      const thread = /^[0-9a-f]{8}-[0-9a-f-]{27}/.exec(String(row["session_id"] ?? ""))?.[0];
      return h(
        "tr",
        {},
        ...columns.map(([path]) => h("td", {}, shownValue(at(row, path)))),
        h(
          "td",
          {},
          part !== "running" && button("retry"),
          button("cancel"),
          thread !== undefined && h("a", { href: `#/t/${thread}` }, "thread"),
        ),
      );
    });
    return h(
      "div",
      { class: "table", tabindex: "0", role: "region", "aria-label": title },
      h("h3", {}, title),
      h("table", {}, h("thead", {}, head), h("tbody", {}, ...body)),
    );
  }

  async #act(runner: string, action: string, issue?: string): Promise<void> {
    try {
      await ask(
        `runners/${encodeURIComponent(runner)}/${action}`,
        "POST",
        issue === undefined ? {} : { "x-quipu-issue": encodeURIComponent(issue) },
      );
      note(`${issue ?? runner}: ${action}`);
    } catch (error) {
      note(said(error), "problem");
    }
    await this.#load();
  }
}

function at(value: Values, path: string): unknown {
  return path.split(".").reduce<unknown>((inner, name) => (inner as Values | undefined)?.[name], value);
}

function shownValue(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return Number.isInteger(value) ? count(value) : value.toFixed(4);
  return typeof value === "string" ? value : JSON.stringify(value);
}
