/** One thread: its head, its turns, its questions, and where the user writes. */

import type { Thread, TurnInput } from "@quipu/client/websocket";

import { Composer } from "./composer.ts";
import { asked, confirmed, dialog, note } from "./dialog.ts";
import { fill, h, perFrame, refill, setText } from "./dom.ts";
import { said, short } from "./format.ts";
import { questionCard, questionTitle } from "./question-view.ts";
import type { Models } from "./models.ts";
import type { Session } from "./session.ts";
import { choices, choose } from "./storage.ts";
import { textOf, type ThreadState } from "./thread.ts";
import { setTitle } from "./title.ts";
import { Rows, type TranscriptContext } from "./transcript.ts";
import { TurnOptions } from "./turn-options.ts";
import { usagePlot } from "./usage.ts";
import { VirtualList } from "./virtual.ts";

/** No room for two columns of code. */
const NARROW = matchMedia("(max-width: 760px)");

/** The view of the thread that is open, or of one that is not begun. */
export class ThreadView {
  readonly element: HTMLElement;
  readonly composer: Composer;
  readonly #session: Session;
  readonly #list = new VirtualList("Conversation");
  readonly #title = h("h1", { class: "title" });
  readonly #place = h("span", { class: "dim place" });
  readonly #menu = h("div", { class: "menu-items" });
  readonly #dock = h("div", { class: "dock", "aria-label": "Questions", role: "region" });
  readonly #usage = h("div", { class: "usage-strip" });
  readonly #cwd = h("input", {
    type: "text",
    "aria-label": "Working directory",
    placeholder: "working directory of the server",
  });
  readonly #fresh: HTMLElement;
  readonly #end = h(
    "button",
    { type: "button", class: "to-end", hidden: true, onclick: () => this.#list.toEnd() },
    "↓ Latest",
  );
  readonly #options: TurnOptions;
  readonly #context: TranscriptContext;
  readonly #rows: Rows;
  #state: ThreadState | undefined;
  #wanted = "";
  readonly #redraw = perFrame(() => this.#draw());

  constructor(session: Session, models: Models) {
    this.#session = session;
    this.#options = new TurnOptions(() => models.all);
    models.changed.on(() => this.#options.draw());
    this.composer = new Composer({
      send: (input) => this.#send(input),
      findFiles: (query) => this.#findFiles(query),
      stop: () => void this.interrupt(),
    });
    this.composer.options.append(this.#options.element);
    this.#context = {
      open: new Map(),
      get diffStyle() {
        return NARROW.matches ? "unified" : choices().diff;
      },
      image: (path) => this.#image(path),
      threadLink: (id, text) => h("a", { href: `#/t/${id}` }, text),
      rollback: (turnId) => void this.#rollback(turnId),
    };
    this.#rows = new Rows(this.#context);
    this.#fresh = h("div", { class: "fresh" }, h("p", {}, "A new thread. Where does it work?"), this.#cwd);
    this.element = this.#layout();
    this.#listen();
  }

  #layout(): HTMLElement {
    const menu = h(
      "details",
      { class: "menu" },
      h("summary", { role: "button", "aria-label": "Actions of the thread" }, "⋯"),
      this.#menu,
    );
    menu.addEventListener("click", (event) => {
      if (event.target instanceof HTMLButtonElement) menu.open = false;
    });
    menu.addEventListener("keydown", (event) => {
      if (event.key === "Escape") menu.open = false;
    });
    const head = h(
      "header",
      { class: "thread-head" },
      h("div", { class: "titles" }, this.#title, this.#place),
      this.#usage,
      menu,
    );
    return h(
      "section",
      { class: "thread-view", "aria-label": "Thread" },
      head,
      this.#fresh,
      this.#list.element,
      this.#end,
      this.#dock,
      this.composer.element,
    );
  }

  #listen(): void {
    const session = this.#session;
    session.structureChanged.on((id) => id === this.#state?.id && this.#redraw());
    session.touched.on((id, key) => id === this.#state?.id && this.#list.touch(key));
    session.questionsChanged.on(() => this.#drawQuestions());
    session.statusChanged.on((id) => id === this.#state?.id && this.#redraw());
    session.notified.on(({ method, params }) => {
      const { threadId, turn } = (params ?? {}) as { threadId?: string; turn?: { status?: string } };
      if (threadId !== this.#state?.id) return;
      if (method === "thread/tokenUsage/updated") this.#redraw();
      if (method === "turn/completed") this.#returnUnread();
      if (method === "turn/completed") announce(`The turn ${turn?.status ?? "ended"}.`);
    });
    session.connectionChanged.on(() => session.connection === "connected" && this.#settle());
    NARROW.addEventListener("change", () => this.#touchAll());
    this.#list.element.addEventListener("scroll", () => (this.#end.hidden = this.#list.isAtEnd));
  }

  /** The thread that is open. */
  get threadId(): string | undefined {
    return this.#state?.id;
  }

  /** Opens a thread, or the view for a new one. */
  async open(threadId: string | undefined): Promise<void> {
    this.#wanted = this.#session.current = threadId ?? "";
    if (threadId !== undefined && threadId === this.#state?.id) return;
    this.#state = undefined;
    this.#list.reset();
    this.composer.open(threadId ?? "new");
    this.#options.show(undefined);
    this.#draw();
    if (threadId === undefined) return;
    try {
      const state = await this.#session.follow(threadId).catch((error: unknown) => this.#session.peek(threadId, error));
      if (this.#wanted !== threadId) return;
      this.#show(state);
      if (!this.#session.followed.has(threadId))
        note("Another program works on this thread. This is what is stored of it.");
    } catch (error) {
      note(`The thread cannot be opened: ${said(error)}`, "problem");
    }
  }

  #show(state: ThreadState): void {
    this.#state = state;
    this.#options.show(state.settings);
    this.#draw();
    this.#list.toEnd();
  }

  #draw(): void {
    const state = this.#state;
    const isNew = this.#wanted === "";
    const title = state ? titleOf(state.info) : isNew ? "New thread" : "Loading…";
    setText(this.#title, title);
    setTitle(title);
    setText(this.#place, state?.settings?.cwd ?? "");
    this.#fresh.hidden = !isNew;
    this.#list.element.hidden = isNew;
    this.composer.setRunning(state?.running !== undefined);
    if (state) {
      this.#list.setRows(this.#rows.of(state));
      for (const turn of state.turns.slice(-2)) this.#list.touch(turn.id);
    }
    fill(this.#usage, state && usagePlot(state));
    this.#drawMenu();
    this.#drawQuestions();
  }

  #drawMenu(): void {
    const state = this.#state;
    const action = (text: string, run: () => unknown, isOff = false) =>
      h("button", { type: "button", disabled: !state || isOff, onclick: () => void this.#try(run) }, text);
    const isRunning = state?.running !== undefined;
    refill(
      this.#menu,
      action("Rename…", () => this.rename()),
      action("Fork", () => this.fork()),
      action("Review…", () => this.#review(), isRunning),
      action("Compact history", () => this.#session.client.compactThread(state?.id ?? ""), isRunning),
      action("Interrupt", () => this.interrupt(), !isRunning),
      action(choices().diff === "split" ? "Unified diffs" : "Side-by-side diffs", () => this.toggleDiff()),
      action("Archive", () => this.archive(), isRunning),
    );
  }

  #drawQuestions(): void {
    const { questions, followed } = this.#session;
    const shown = new Set([...this.#dock.children].map((it) => (it as HTMLElement).dataset["question"]));
    const wanted = questions.all.filter(({ threadId }) => threadId === this.#state?.id);
    for (const card of [...this.#dock.children]) {
      if (!wanted.some(({ key }) => String(key) === (card as HTMLElement).dataset["question"])) card.remove();
    }
    for (const question of wanted) {
      if (shown.has(String(question.key))) continue;
      this.#dock.append(questionCard(question, followed.get(question.threadId), this.#context));
      announce(questionTitle(question));
    }
    this.#dock.hidden = wanted.length === 0;
  }

  /** The card of a question, also of another thread. */
  card(question: Parameters<typeof questionCard>[0]): HTMLElement {
    return questionCard(question, this.#session.followed.get(question.threadId), this.#context);
  }

  /** Moves the focus to the first question. */
  focusQuestion(): boolean {
    const button = this.#dock.querySelector<HTMLElement>("button, input, select");
    button?.focus();
    return button !== null;
  }

  async #try(run: () => unknown): Promise<boolean> {
    try {
      await run();
      return true;
    } catch (error) {
      note(said(error), "problem");
      return false;
    }
  }

  #send(input: TurnInput[]): Promise<boolean> {
    return this.#try(async () => {
      const { client } = this.#session;
      const state = await this.#followed();
      const { running } = state;
      if (running) {
        await client.steerTurn({ threadId: state.id, input, expectedTurnId: running.id });
        state.steered(running.id, input.flatMap((it) => (it.type === "text" ? [it.text] : [])).join("\n"));
      } else {
        const { chosen } = this.#options;
        await client.turnStart({ threadId: state.id, input, ...chosen });
        if (state.settings) {
          const { sandboxPolicy, ...rest } = chosen;
          Object.assign(state.settings, rest, sandboxPolicy && { sandbox: sandboxPolicy });
        }
      }
      this.#list.toEnd();
    });
  }

  /** The thread to write to: the one that is open, loaded again if it was unloaded, or a new one. */
  async #followed(): Promise<ThreadState> {
    if (!this.#state) return this.#begin();
    const { id } = this.#state;
    const state = await this.#session.follow(id);
    if (state !== this.#state && this.#wanted === id) this.#show(state);
    return state;
  }

  /** Starts the thread that the first message is for. */
  async #begin(): Promise<ThreadState> {
    const cwd = this.#cwd.value.trim();
    const answer = await this.#session.client.threadStart({ ...this.#options.forThread, ...(cwd !== "" && { cwd }) });
    const state = this.#session.adopt(answer.thread as Thread, answer);
    this.#wanted = this.#session.current = state.id;
    this.#state = state;
    this.composer.rename(state.id);
    this.#options.began(state.settings);
    this.#draw();
    location.replace(`#/t/${state.id}`);
    this.#session.listChanged.emit();
    return state;
  }

  /** What the turn ended without reading goes back to where it was written. */
  #returnUnread(): void {
    const last = this.#state?.turns.at(-1);
    const unread = last?.pending?.join("\n") ?? "";
    if (!last || unread === "") return;
    last.pending = undefined;
    this.composer.restore(unread);
    note("The turn ended before it read what you added; it is in the text field again.");
  }

  /** After a lost connection: a message whose answer was lost may have arrived. */
  #settle(): void {
    const last = this.#state?.turns.at(-1);
    const message = [...(last?.items.values() ?? [])].findLast((item) => item.type === "userMessage");
    if (message) this.composer.settle(textOf(message));
    this.#redraw();
  }

  async #findFiles(query: string) {
    const root = this.#state?.settings?.cwd ?? (this.#cwd.value.trim() || ".");
    const { files } = await this.#session.client.fuzzyFileSearch({
      query,
      roots: [root],
      cancellationToken: "composer",
    });
    return files;
  }

  async #image(path: string): Promise<string> {
    const { dataBase64 } = await this.#session.client.fsReadFile({ path });
    const kind = /\.(png|gif|webp|avif)$/i.exec(path)?.[1]?.toLowerCase() ?? "jpeg";
    return `data:image/${kind};base64,${dataBase64}`;
  }

  async interrupt(): Promise<void> {
    const running = this.#state?.running;
    if (!this.#state || !running) return;
    const { id } = this.#state;
    await this.#try(() => this.#session.client.interruptTurn(id, running.id));
  }

  async rename(): Promise<void> {
    if (!this.#state) return;
    const name = await asked("Rename the thread", "Name", this.#state.info.name ?? "");
    if (name) await this.#session.client.threadNameSet({ threadId: this.#state.id, name });
  }

  async fork(): Promise<void> {
    if (!this.#state) return;
    const answer = await this.#session.client.threadFork({ threadId: this.#state.id });
    this.#session.adopt(answer.thread as Thread, answer);
    this.#session.listChanged.emit();
    location.hash = `#/t/${answer.thread.id}`;
    note("This is a copy of the thread.");
  }

  async archive(): Promise<void> {
    const state = this.#state;
    if (
      !state ||
      !(await confirmed("Archive the thread?", "It leaves the list; the filter “Archived” shows it.", "Archive"))
    )
      return;
    await this.#session.client.archiveThread(state.id);
    this.#session.followed.delete(state.id);
    location.hash = "#/";
  }

  toggleDiff(): void {
    const diff = choices().diff === "split" ? "unified" : "split";
    choose({ diff });
    this.#touchAll();
    this.#drawMenu();
  }

  #touchAll(): void {
    for (const turn of this.#state?.turns ?? [])
      for (const id of turn.items.keys()) this.#list.touch(`${turn.id}/${id}`);
  }

  async #review(): Promise<void> {
    const state = this.#state;
    const kinds = [
      ["uncommittedChanges", "Uncommitted changes"],
      ["baseBranch", "Changes against a branch"],
      ["commit", "A commit"],
      ["custom", "As I describe"],
    ] as const;
    const answer = await dialog<{ type: string; detail: string }>("Review", (close) => {
      const type = h(
        "select",
        { "aria-label": "What to review" },
        ...kinds.map(([value, text]) => h("option", { value }, text)),
      );
      const detail = h("input", {
        type: "text",
        "aria-label": "Branch, commit or instructions",
        placeholder: "branch, commit or instructions",
      });
      const start = h(
        "button",
        { type: "button", class: "primary", onclick: () => close({ type: type.value, detail: detail.value.trim() }) },
        "Start",
      );
      return [
        type,
        detail,
        h("div", { class: "buttons" }, start, h("button", { type: "button", onclick: () => close() }, "Cancel")),
      ];
    });
    if (!answer || !state) return;
    const { type, detail } = answer;
    const target =
      type === "baseBranch"
        ? ({ type, branch: detail || "main" } as const)
        : type === "commit"
          ? ({ type, sha: detail } as const)
          : type === "custom"
            ? ({ type, instructions: detail } as const)
            : ({ type: "uncommittedChanges" } as const);
    await this.#session.client.startReview({ threadId: state.id, delivery: "inline", target });
  }

  async #rollback(turnId: string): Promise<void> {
    const state = this.#state;
    const at = state?.turns.findIndex((turn) => turn.id === turnId) ?? -1;
    if (!state || at < 0) return;
    const numTurns = state.turns.length - at;
    const text = `${numTurns === 1 ? "This turn is" : `These ${numTurns} turns are`} dropped from the thread. Files stay as they are.`;
    if (!(await confirmed("Roll back?", text, "Roll back"))) return;
    await this.#try(async () => {
      const { thread } = await this.#session.client.threadRollback({ threadId: state.id, numTurns });
      state.load(thread as Thread);
    });
  }
}

/** How a thread is called. */
export function titleOf(thread: Thread): string {
  return thread.name ?? (short(thread.preview ?? "", 60) || "Untitled thread");
}

/** Says something to screen readers. */
export function announce(text: string): void {
  const place = document.querySelector("#announce");
  if (place) place.textContent = text;
}
