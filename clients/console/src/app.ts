/** The frame of the page: navigation, the view that is open, the state of the connection. */

import { note } from "./dialog.ts";
import { fill, h, setText } from "./dom.ts";
import { help, type Keys, listen } from "./keys.ts";
import { Models } from "./models.ts";
import { RunnerView } from "./runner-view.ts";
import type { Session } from "./session.ts";
import { SettingsView } from "./settings-view.ts";
import { Sidebar } from "./sidebar.ts";
import { ThreadView, titleOf } from "./thread-view.ts";
import { setTitle, setWaiting } from "./title.ts";
import type { Settings } from "./token.ts";

/** Everything after a connection was made. */
export class App {
  readonly element: HTMLElement;
  readonly #session: Session;
  readonly #models = new Models();
  readonly #thread: ThreadView;
  readonly #sidebar: Sidebar;
  readonly #settings: SettingsView;
  readonly #runners = new RunnerView();
  readonly #questions = h("section", { class: "page", tabindex: "-1", "aria-label": "Questions" });
  readonly #main = h("main", { id: "main", tabindex: "-1" });
  readonly #links: HTMLAnchorElement[];
  readonly #badge = h("span", { class: "badge", hidden: true });
  readonly #banner = h("div", { class: "banner", role: "alert", hidden: true });
  readonly #drawer: HTMLElement;

  constructor(session: Session, { hasRunners }: Settings) {
    this.#session = session;
    this.#thread = new ThreadView(session, this.#models);
    this.#sidebar = new Sidebar(session);
    this.#settings = new SettingsView(session, this.#models);
    const to = (href: string, ...children: (Node | string)[]) => h("a", { href }, ...children);
    this.#links = [
      to("#/questions", "Questions ", this.#badge),
      ...(hasRunners ? [to("#/runners", "Runners")] : []),
      to("#/settings", "Settings"),
    ];
    this.#drawer = h(
      "div",
      { class: "sidebar", id: "sidebar" },
      h(
        "nav",
        { "aria-label": "Views" },
        ...this.#links,
        h(
          "button",
          { type: "button", class: "quiet", "aria-label": "Keys", onclick: () => void help(this.#keys()) },
          "?",
        ),
      ),
      this.#sidebar.element,
    );
    const opener = h(
      "button",
      {
        type: "button",
        class: "opener",
        "aria-controls": "sidebar",
        "aria-label": "Threads and views",
        onclick: () => this.#drawer.classList.toggle("open"),
      },
      "☰",
    );
    this.element = h(
      "div",
      { class: "app" },
      h(
        "a",
        { class: "skip", href: "#main", onclick: (event: Event) => (event.preventDefault(), this.#main.focus()) },
        "Skip to the conversation",
      ),
      h("div", { id: "announce", class: "hidden-text", role: "status", "aria-live": "polite" }),
      h("div", { id: "notes", role: "status", "aria-live": "polite" }),
      opener,
      this.#drawer,
      h("div", { class: "stage" }, this.#banner, this.#main),
    );
    this.#listen();
  }

  #listen(): void {
    const { connectionChanged, questionsChanged } = this.#session;
    connectionChanged.on(() => this.#drawConnection());
    questionsChanged.on(() => this.#drawQuestions());
    // A link to the view that is open changes nothing but this.
    this.#drawer.addEventListener("click", (event) => {
      if ((event.target as Element).closest("a")) this.#drawer.classList.remove("open");
    });
    window.addEventListener("hashchange", () => this.#route());
    listen(this.#keys());
  }

  #keys(): Keys {
    return {
      n: ["New thread", () => (location.hash = "#/")],
      "/": ["Search threads", () => (this.#drawer.classList.add("open"), this.#sidebar.search.focus())],
      c: ["Write", () => this.#thread.composer.text.focus()],
      j: ["Next thread", () => this.#sidebar.step(1)],
      k: ["Previous thread", () => this.#sidebar.step(-1)],
      q: ["Go to a question", () => void (this.#thread.focusQuestion() || (location.hash = "#/questions"))],
      x: ["Interrupt the turn", () => void this.#thread.interrupt()],
      d: ["Change how diffs are shown", () => this.#thread.toggleDiff()],
    };
  }

  /** Shows the page. */
  start(): void {
    this.#route();
    this.#drawQuestions();
    this.#session.noticed.on((text) => note(text, "problem"));
    for (const text of this.#session.notices) note(text, "problem");
    this.#sidebar.refresh();
    void this.#models.load(this.#session).catch(() => {});
  }

  #route(): void {
    const [, view = "", id] = location.hash.split("/");
    this.#drawer.classList.remove("open");
    this.#runners.hide();
    for (const link of this.#links) {
      if (link.getAttribute("href") === `#/${view}`) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    this.#sidebar.setCurrent(view === "t" ? (id ?? "") : "");
    if (view === "settings") {
      this.#show(this.#settings.element, "Settings");
      void this.#settings.show(this.#session.followed.get(this.#thread.threadId ?? "")?.settings?.cwd);
    } else if (view === "runners") {
      this.#show(this.#runners.element, "Runners");
      void this.#runners.show();
    } else if (view === "questions") this.#show(this.#questions, "Questions");
    else {
      this.#show(this.#thread.element, "Thread");
      void this.#thread.open(view === "t" ? id : undefined);
      if (matchMedia("(pointer: fine)").matches) this.#thread.composer.text.focus();
    }
  }

  #show(element: HTMLElement, title: string): void {
    if (this.#main.firstElementChild === element) return;
    setTitle(title);
    fill(this.#main, element);
    if (element.tabIndex === -1) element.focus();
  }

  #drawQuestions(): void {
    const { all } = this.#session.questions;
    setWaiting(all.length);
    this.#badge.hidden = all.length === 0;
    setText(this.#badge, String(all.length));
    const cards = all.map((question) => {
      const thread = this.#session.followed.get(question.threadId);
      return h(
        "div",
        { class: "of-thread" },
        h("a", { href: `#/t/${question.threadId}` }, thread ? titleOf(thread.info) : question.threadId),
        this.#thread.card(question),
      );
    });
    fill(
      this.#questions,
      h("h1", {}, "Questions"),
      all.length === 0 && h("p", { class: "dim" }, "Nobody waits for you."),
      ...cards,
    );
  }

  #drawConnection(): void {
    const { connection, problem } = this.#session;
    this.#banner.hidden = connection === "connected";
    const again = connection === "lost" && h("button", { type: "button", onclick: () => location.reload() }, "Connect");
    fill(this.#banner, problem || "Connecting…", again);
    if (connection === "connected") void this.#models.load(this.#session).catch(() => {});
  }
}
