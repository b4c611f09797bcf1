/** The list of threads: search, filter, and a badge where somebody is needed. */

import type { protocol, Thread } from "@quipu/client/websocket";

import { note } from "./dialog.ts";
import { fill, h } from "./dom.ts";
import { ago, said } from "./format.ts";
import { isWaiting, type Session } from "./session.ts";
import { titleOf } from "./thread-view.ts";

const PAGE = 50;
/** Changes that come close together are loaded once. */
const SETTLE_MS = 200;

const KINDS: protocol.ThreadSourceKind[] = ["cli", "vscode", "exec", "appServer", "subAgent", "unknown"];
const FILTERS = [
  ["all", "All threads"],
  ["running", "Running"],
  ["waiting", "Waiting for you"],
  ["archived", "Archived"],
] as const;

/** The list beside the thread. */
export class Sidebar {
  readonly element: HTMLElement;
  readonly search = h("input", { type: "search", placeholder: "Search threads", "aria-label": "Search threads" });
  readonly #filter = h(
    "select",
    { "aria-label": "Filter" },
    ...FILTERS.map(([value, text]) => h("option", { value }, text)),
  );
  readonly #directory = h("select", { "aria-label": "Directory" });
  readonly #list = h("ul", { class: "threads" });
  readonly #more = h("button", { type: "button", class: "quiet", onclick: () => void this.#load(false) }, "Load more");
  readonly #session: Session;
  #threads: Thread[] = [];
  #cursor: string | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #load_ = 0;
  #current = "";

  constructor(session: Session) {
    this.#session = session;
    this.element = h(
      "section",
      { class: "thread-list", "aria-label": "Threads" },
      h("a", { class: "button primary", href: "#/" }, "New thread"),
      this.search,
      h("div", { class: "filters" }, this.#filter, this.#directory),
      this.#list,
      this.#more,
    );
    this.search.addEventListener("input", () => this.refresh());
    for (const select of [this.#filter, this.#directory]) select.addEventListener("change", () => this.refresh());
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") this.#list.querySelector("a")?.focus();
    });
    this.#list.addEventListener("keydown", (event) => this.#arrows(event));
    session.listChanged.on(() => this.refresh());
    session.questionsChanged.on(() => this.#draw());
    session.statusChanged.on((id, status) => this.#status(id, status));
    session.notified.on(({ method }) => method === "turn/completed" && this.refresh());
  }

  /** Marks the thread that is open. */
  setCurrent(threadId: string): void {
    this.#current = threadId;
    this.#draw();
  }

  /** Opens the thread before or after the one that is open. */
  step(by: number): void {
    const shown = this.#shown();
    const at = shown.findIndex(({ id }) => id === this.#current);
    const next = shown[Math.min(Math.max(0, at + by), shown.length - 1)];
    if (next) location.hash = `#/t/${next.id}`;
  }

  /** Loads the list again soon. */
  refresh(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#load(true), SETTLE_MS);
  }

  async #load(isFresh: boolean): Promise<void> {
    const number = ++this.#load_;
    const searchTerm = this.search.value.trim();
    const cwd = this.#directory.value;
    try {
      const { data, nextCursor } = await this.#session.client.listThreads({
        limit: PAGE,
        sortKey: "updated_at",
        modelProviders: [],
        sourceKinds: KINDS,
        archived: this.#filter.value === "archived",
        ...(cwd && { cwd }),
        ...(searchTerm !== "" && { searchTerm }),
        ...(!isFresh && { cursor: this.#cursor }),
      });
      // A later search was faster.
      if (number !== this.#load_) return;
      const named = isFresh && searchTerm !== "" ? this.#threads.filter((it) => matches(it, searchTerm)) : [];
      const before = isFresh ? named.filter((it) => !data.some(({ id }) => id === it.id)) : this.#threads;
      this.#threads = [...before, ...data];
      this.#cursor = nextCursor ?? null;
      this.#draw();
    } catch (error) {
      if (this.#session.connection === "connected") note(said(error), "problem");
    }
  }

  #status(threadId: string, status: protocol.ThreadStatus): void {
    const thread = this.#threads.find(({ id }) => id === threadId);
    if (!thread) return this.refresh();
    thread.status = status;
    this.#draw();
  }

  #shown(): Thread[] {
    const filter = this.#filter.value;
    if (filter === "running") return this.#threads.filter(({ status }) => status?.type === "active");
    if (filter === "waiting")
      return this.#threads.filter(({ id, status }) => isWaiting(status) || this.#session.questions.of(id).length > 0);
    return this.#threads;
  }

  #draw(): void {
    const focused = (document.activeElement as HTMLElement | null)?.dataset["thread"];
    fill(this.#list, ...this.#shown().map((thread) => this.#entry(thread)));
    this.#more.hidden = this.#cursor === null;
    if (focused !== undefined) this.#list.querySelector<HTMLElement>(`[data-thread="${CSS.escape(focused)}"]`)?.focus();
    this.#drawDirectories();
  }

  #drawDirectories(): void {
    const chosen = this.#directory.value;
    const all = [...new Set([chosen, ...this.#threads.map(({ cwd }) => cwd ?? "")])].filter((it) => it !== "").sort();
    fill(
      this.#directory,
      h("option", { value: "" }, "All directories"),
      ...all.map((it) => h("option", { value: it, selected: it === chosen }, it)),
    );
  }

  #entry(thread: Thread): HTMLElement {
    const questions = this.#session.questions.of(thread.id).length;
    const isCurrent = thread.id === this.#current;
    const isActive = thread.status?.type === "active";
    const state = questions > 0 || isWaiting(thread.status) ? "waiting" : isActive ? "running" : "";
    const open = h(
      "a",
      {
        href: `#/t/${thread.id}`,
        "data-thread": thread.id,
        "aria-current": isCurrent ? "page" : null,
        title: `${thread.preview ?? ""}\n${thread.cwd ?? ""}`,
      },
      h("span", { class: "name" }, titleOf(thread)),
      h("span", { class: "dim when" }, [state, ago(thread.updatedAt ?? 0)].filter((it) => it !== "").join(" · ")),
      questions > 0 &&
        h(
          "span",
          { class: "badge" },
          questions,
          h("span", { class: "hidden-text" }, questions === 1 ? " question" : " questions"),
        ),
    );
    const isArchived = this.#filter.value === "archived";
    const restore = async () => {
      await this.#session.client
        .threadUnarchive({ threadId: thread.id })
        .catch((error: unknown) => note(said(error), "problem"));
      this.refresh();
    };
    return h(
      "li",
      { class: state },
      open,
      isArchived && h("button", { type: "button", class: "quiet small", onclick: () => void restore() }, "Restore"),
    );
  }

  #arrows(event: KeyboardEvent): void {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const links = [...this.#list.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement as HTMLAnchorElement);
    const next = links[at + by];
    (next ?? (by < 0 ? this.search : undefined))?.focus();
  }
}

/** The server looks at first messages only and minds the case; names are looked at here. */
function matches(thread: Thread, term: string): boolean {
  const text = `${thread.name ?? ""} ${thread.preview ?? ""} ${thread.cwd ?? ""}`.toLowerCase();
  return text.includes(term.toLowerCase());
}
