/** A thread as the page knows it: what was stored, and what notifications added since. */

import type { protocol, Thread, ThreadItem } from "@quipu/client/websocket";

/** A turn with its items in the order in which they began. */
export interface TurnState {
  readonly id: string;
  readonly items: Map<string, ThreadItem>;
  status: "inProgress" | "completed" | "interrupted" | "failed";
  error?: string | undefined;
  /** What is tried again at the moment, and why. */
  retry?: string | undefined;
  /** What the user added and the model has not read yet. */
  pending?: string[] | undefined;
  plan?: protocol.TurnPlanStep[] | undefined;
  /** Tokens of this turn, if the page saw them counted. */
  usage?: protocol.TokenUsageBreakdown | undefined;
  /** Dollars that the server counted for it. */
  dollars?: number | undefined;
}

/** What the next turn runs with unless it says otherwise. */
export interface ThreadSettings {
  model: string;
  effort: protocol.ReasoningEffort | null;
  approvalPolicy: protocol.AskForApproval;
  sandbox: protocol.SandboxPolicy;
  cwd: string;
}

/** What changed, for those who show it. */
export interface ThreadEvents {
  /** Turns or items were added or removed. */
  structure(): void;
  /** An item or a turn changed. */
  touched(key: string): void;
}

type Params = Record<string, unknown>;

/** The parts of an item that grow by deltas, by notification. */
const DELTAS: Record<string, string> = {
  "item/agentMessage/delta": "text",
  "item/plan/delta": "text",
  "item/commandExecution/outputDelta": "aggregatedOutput",
};

const NO_USAGE = { totalTokens: 0, inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, reasoningOutputTokens: 0 };

/** The counts of how many turns the browser keeps. */
const KEPT = 200;

/** One thread. */
export class ThreadState {
  info: Thread;
  turns: TurnState[] = [];
  settings: ThreadSettings | undefined;
  usage: protocol.ThreadTokenUsage | undefined;
  readonly #events: ThreadEvents;
  #byId = new Map<string, TurnState>();
  #kept: Record<string, protocol.TokenUsageBreakdown> = {};

  constructor(info: Thread, events: ThreadEvents) {
    this.info = info;
    this.#events = events;
  }

  get id(): string {
    return this.info.id;
  }

  /** The turn that runs, if one does. */
  get running(): TurnState | undefined {
    const last = this.turns.at(-1);
    return last?.status === "inProgress" ? last : undefined;
  }

  /** Takes over what the server has stored. Counts of tokens and plans that the page saw are kept. */
  load(thread: Thread): void {
    const known = this.#byId;
    this.info = { ...thread, turns: [] };
    this.turns = (thread.turns ?? []).map(({ id, items, status, error }) => ({
      id,
      items: keyed(items),
      status,
      error: error?.message,
      plan: known.get(id)?.plan,
      usage: known.get(id)?.usage ?? this.#kept[id],
      dollars: known.get(id)?.dollars,
    }));
    this.#byId = new Map(this.turns.map((turn) => [turn.id, turn]));
    this.#events.structure();
    for (const turn of this.turns) {
      this.#events.touched(turn.id);
      for (const id of turn.items.keys()) this.#events.touched(`${turn.id}/${id}`);
    }
  }

  /** Takes in a notification about this thread. */
  notified(method: string, params: Params): void {
    const field = DELTAS[method];
    if (field !== undefined) return this.#delta(params, field);
    switch (method) {
      case "turn/started":
        return this.#turnStarted(params["turn"] as protocol.Turn);
      case "turn/completed":
        return this.#turnCompleted(params["turn"] as protocol.Turn);
      case "item/started":
      case "item/completed":
        return this.#item(String(params["turnId"]), params["item"] as ThreadItem);
      case "item/reasoning/summaryTextDelta":
        return this.#part(params, "summary", Number(params["summaryIndex"]));
      case "item/reasoning/textDelta":
        return this.#part(params, "content", Number(params["contentIndex"]));
      case "turn/plan/updated":
        return this.#change(String(params["turnId"]), { plan: params["plan"] as protocol.TurnPlanStep[] });
      case "thread/tokenUsage/updated":
        return this.#count(String(params["turnId"]), params["tokenUsage"] as protocol.ThreadTokenUsage);
      case "thread/name/updated":
        this.info.name = (params["threadName"] as string | undefined) ?? null;
        return this.#events.structure();
      case "error":
        return this.#failed(params as unknown as protocol.ErrorNotification);
    }
  }

  /** What the browser keeps of the counts, for the turns that are stored without any. */
  keptUsage(): Record<string, protocol.TokenUsageBreakdown> {
    const counted = this.turns.filter((turn) => turn.usage !== undefined).slice(-KEPT);
    return Object.fromEntries(counted.map(({ id, usage }) => [id, usage ?? NO_USAGE]));
  }

  restoreUsage(kept: Record<string, protocol.TokenUsageBreakdown>): void {
    this.#kept = kept;
  }

  /** A turn by its id. */
  find(id: string): TurnState | undefined {
    return this.#byId.get(id);
  }

  #turn(id: string): TurnState {
    const known = this.find(id);
    if (known) return known;
    const turn: TurnState = { id, items: new Map(), status: "inProgress" };
    this.turns.push(turn);
    this.#byId.set(id, turn);
    this.#events.structure();
    return turn;
  }

  #change(turnId: string, change: Partial<TurnState>): void {
    Object.assign(this.#turn(turnId), change);
    this.#events.touched(turnId);
  }

  #turnStarted({ id }: protocol.Turn): void {
    this.#change(id, { status: "inProgress" });
    this.#events.structure();
  }

  #turnCompleted({ id, status, error }: protocol.Turn): void {
    this.#change(id, { status, error: error?.message, retry: undefined });
    this.#events.structure();
  }

  #item(turnId: string, item: ThreadItem): void {
    const turn = this.#turn(turnId);
    const key = keyIn(turn.items, item);
    const isNew = !turn.items.has(key);
    turn.items.set(key, item);
    if (item.type === "userMessage" && turn.pending) this.#arrived(turn, textOf(item));
    if (item.type === "userMessage" && !this.info.preview) this.info.preview = textOf(item);
    if (turn.retry !== undefined) this.#change(turnId, { retry: undefined });
    if (isNew) this.#events.structure();
    this.#events.touched(`${turnId}/${key}`);
  }

  /** Input was added to the running turn; the model has not read it yet. */
  steered(turnId: string, text: string): void {
    const turn = this.find(turnId);
    if (turn?.status === "inProgress") this.#change(turnId, { pending: [...(turn.pending ?? []), text] });
  }

  #arrived(turn: TurnState, text: string): void {
    const at = turn.pending?.indexOf(text) ?? -1;
    if (at >= 0) this.#change(turn.id, { pending: turn.pending?.toSpliced(at, 1) });
  }

  #found(params: Params): [Record<string, unknown>, string] | undefined {
    const [turnId, itemId] = [String(params["turnId"]), String(params["itemId"])];
    const item = this.find(turnId)?.items.get(itemId);
    return item && [item as Record<string, unknown>, `${turnId}/${itemId}`];
  }

  #delta(params: Params, field: string): void {
    const found = this.#found(params);
    if (!found) return;
    const [item, key] = found;
    item[field] = String(item[field] ?? "") + String(params["delta"] ?? "");
    this.#events.touched(key);
  }

  #part(params: Params, field: string, at: number): void {
    const found = this.#found(params);
    if (!found) return;
    const [item, key] = found;
    const parts = [...((item[field] as string[] | undefined) ?? [])];
    if (parts.length === 0) this.#events.structure();
    while (parts.length <= at) parts.push("");
    parts[at] += String(params["delta"] ?? "");
    item[field] = parts;
    this.#events.touched(key);
  }

  /** What a turn used is what the total grew by since it began. */
  #count(turnId: string, usage: protocol.ThreadTokenUsage): void {
    const before = this.usage?.total ?? NO_USAGE;
    this.usage = usage;
    const turn = this.find(turnId);
    if (!turn || turn.status !== "inProgress") return;
    const so = turn.usage ?? NO_USAGE;
    const names = Object.keys(NO_USAGE) as (keyof typeof NO_USAGE)[];
    const grown = names.map((name) => [name, so[name] + Math.max(0, usage.total[name] - before[name])]);
    this.#change(turnId, { usage: Object.fromEntries(grown) as typeof NO_USAGE, dollars: usage.cost?.turn });
  }

  #failed({ turnId, error, willRetry }: protocol.ErrorNotification): void {
    const details = error.additionalDetails ? `: ${error.additionalDetails}` : "";
    if (willRetry) this.#change(turnId, { retry: error.message + details });
    else this.#change(turnId, { error: error.message });
  }
}

/** Items by id. Two that share one, such as the beginning and the end of a review, are both kept. */
function keyed(items: ThreadItem[]): Map<string, ThreadItem> {
  const all = new Map<string, ThreadItem>();
  for (const item of items) all.set(keyIn(all, item), item);
  return all;
}

function keyIn(items: Map<string, ThreadItem>, { id, type }: ThreadItem): string {
  const known = items.get(id);
  return known && known.type !== type ? `${id}#${type}` : id;
}

/** The text of a message of the user. */
export function textOf(item: ThreadItem): string {
  const { content = [] } = item as { content?: { type: string; text?: string }[] };
  return content.flatMap(({ type, text }) => (type === "text" && text !== undefined ? [text] : [])).join("\n");
}
