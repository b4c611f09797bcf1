/** The turns of a thread as rows: their items, and a foot with plan, state and usage. */

import { cost } from "./cost.ts";
import { h, refill } from "./dom.ts";
import { count, dollars, tokens } from "./format.ts";
import { isShown, type ItemContext, itemRow } from "./items.ts";
import type { ThreadState, TurnState } from "./thread.ts";
import type { Row, RowView } from "./virtual.ts";

/** Items that only reviews have. */
const REVIEW = ["enteredReviewMode", "exitedReviewMode"];

/** What feet need besides what items need. */
export interface TranscriptContext extends ItemContext {
  rollback(turnId: string): void;
}

/** The rows of threads; those of turns that ended are made once. */
export class Rows {
  readonly #context: TranscriptContext;
  #ended = new WeakMap<TurnState, Row[]>();

  constructor(context: TranscriptContext) {
    this.#context = context;
  }

  of(state: ThreadState): Row[] {
    return state.turns.flatMap((turn) => {
      const known = turn.status === "inProgress" ? undefined : this.#ended.get(turn);
      if (known) return known;
      const rows = this.#turn(state, turn);
      if (turn.status !== "inProgress") this.#ended.set(turn, rows);
      return rows;
    });
  }

  #turn(state: ThreadState, turn: TurnState): Row[] {
    // In a review the user said nothing: the message is the task of the reviewer.
    const isReview = [...turn.items.values()].some(({ type }) => REVIEW.includes(type));
    const shown = [...turn.items].filter(([, item]) => isShown(item) && !(isReview && item.type === "userMessage"));
    const item = (key: string) => () => state.find(turn.id)?.items.get(key);
    const rows = shown.map(([key]) => itemRow(turn.id, item(key), key, this.#context));
    const foot: Row = { key: turn.id, guess: 36, view: () => new Foot(state, turn.id, this.#context) };
    return [...rows, foot];
  }
}

const STEPS = { pending: "☐", inProgress: "▶", completed: "☑" };
const STATES = { inProgress: "Working…", completed: "Done", interrupted: "Interrupted", failed: "Failed" };

/** The end of a turn. */
class Foot implements RowView {
  readonly element: HTMLElement = h("div", { class: "row foot" });
  readonly #state: ThreadState;
  readonly #id: string;
  readonly #context: TranscriptContext;

  constructor(state: ThreadState, id: string, context: TranscriptContext) {
    this.#state = state;
    this.#id = id;
    this.#context = context;
  }

  update(): void {
    const turn = this.#state.find(this.#id);
    if (!turn) return;
    const { plan, pending, retry, error, status } = turn;
    const isRunning = status === "inProgress";
    refill(
      this.element,
      plan &&
        plan.length > 0 &&
        h(
          "ul",
          { class: "plan", "aria-label": "Plan" },
          ...plan.map((step) =>
            h(
              "li",
              { class: step.status },
              h("span", { role: "img", "aria-label": step.status }, STEPS[step.status]),
              ` ${step.step}`,
            ),
          ),
        ),
      ...(pending ?? []).map((text) =>
        h(
          "div",
          { class: "pending" },
          h("span", { class: "label" }, "You, not read yet"),
          h("div", { class: "said" }, text),
        ),
      ),
      retry !== undefined && h("div", { class: "problem" }, retry),
      error !== undefined && h("div", { class: "problem" }, error),
      h(
        "div",
        { class: `turn-state ${status}` },
        h("span", { class: isRunning ? "pulse" : "" }, STATES[status]),
        this.#usage(turn),
        !isRunning &&
          !this.#state.running &&
          h(
            "button",
            { type: "button", class: "quiet small", onclick: () => this.#context.rollback(this.#id) },
            "Roll back",
          ),
      ),
    );
  }

  #usage({ usage, dollars: counted }: TurnState): HTMLElement | false {
    if (!usage || usage.totalTokens === 0) return false;
    const price = counted ?? cost(usage, this.#state.settings?.model);
    const title = `${count(usage.inputTokens)} in (${count(usage.cachedInputTokens)} cached), ${count(usage.outputTokens)} out`;
    return h(
      "span",
      { class: "dim", title },
      `${tokens(usage.totalTokens)} tokens${price === undefined ? "" : ` · ${dollars(price)}`}`,
    );
  }
}
