/** What the next turn runs with: model, effort, sandbox and approvals. Only what the user changes is sent. */

import type { ModelInfo, protocol } from "@quipu/client/websocket";

import { fill, h, refill } from "./dom.ts";
import type { ThreadSettings } from "./thread.ts";

/** What was chosen, to be sent with a turn. */
export interface TurnChoices {
  model?: string;
  effort?: protocol.ReasoningEffort;
  approvalPolicy?: protocol.AskForApproval;
  sandboxPolicy?: protocol.SandboxPolicy;
}

const SANDBOXES: [protocol.SandboxPolicy["type"], string][] = [
  ["readOnly", "Read only"],
  ["workspaceWrite", "Write in workspace"],
  ["dangerFullAccess", "Full access"],
];
const MODES: Record<string, protocol.SandboxMode> = {
  readOnly: "read-only",
  workspaceWrite: "workspace-write",
  dangerFullAccess: "danger-full-access",
};
const POLICIES: [string, string][] = [
  ["untrusted", "Ask unless trusted"],
  ["on-request", "Ask on request"],
  ["on-failure", "Ask on failure"],
  ["never", "Never ask"],
];

/** Four selections. */
export class TurnOptions {
  readonly element: HTMLElement = h("div", { class: "turn-options" });
  readonly #models: () => ModelInfo[];
  readonly #effort = h("span", {});
  #settings: ThreadSettings | undefined;
  #chosen: TurnChoices = {};

  constructor(models: () => ModelInfo[]) {
    this.#models = models;
  }

  /** Shows what a thread has, or what is configured if there is no thread yet. */
  show(settings: ThreadSettings | undefined): void {
    this.#settings = settings;
    this.#chosen = {};
    this.draw();
  }

  /** What the thread has now that was just begun; choices stay. */
  began(settings: ThreadSettings | undefined): void {
    this.#settings = settings;
    this.draw();
  }

  /** What is sent with the next turn. */
  get chosen(): TurnChoices {
    return this.#chosen;
  }

  /** The same for the start of a thread. */
  get forThread(): { model?: string; approvalPolicy?: protocol.AskForApproval; sandbox?: protocol.SandboxMode } {
    const { model, approvalPolicy, sandboxPolicy } = this.#chosen;
    const sandbox = sandboxPolicy && MODES[sandboxPolicy.type];
    return { ...(model && { model }), ...(approvalPolicy && { approvalPolicy }), ...(sandbox && { sandbox }) };
  }

  draw(): void {
    const now = { ...this.#settings, ...this.#chosen };
    const models = this.#models();
    const isKnown = models.some(({ model }) => model === now.model);
    const names: [string, string][] = models.map(({ model, displayName }) => [model, displayName || model]);
    if (now.model !== undefined && !isKnown) names.unshift([now.model, now.model]);
    this.#drawEffort();
    const policy = typeof now.approvalPolicy === "object" ? "granular" : now.approvalPolicy;
    const sandbox = (this.#chosen.sandboxPolicy ?? this.#settings?.sandbox)?.type;
    refill(
      this.element,
      select("Model", names, now.model, (model) => this.#choose({ model })),
      this.#effort,
      select("Sandbox", SANDBOXES, sandbox, (type) =>
        this.#choose({ sandboxPolicy: { type } as protocol.SandboxPolicy }),
      ),
      select("Approvals", POLICIES, policy, (it) => this.#choose({ approvalPolicy: it as protocol.AskForApproval })),
    );
  }

  /** The efforts that the model has. */
  #drawEffort(): void {
    const now = { ...this.#settings, ...this.#chosen };
    const efforts = this.#models().find(({ model }) => model === now.model)?.supportedReasoningEfforts ?? [];
    fill(
      this.#effort,
      select(
        "Effort",
        efforts.map(({ reasoningEffort: it }) => [it, it]),
        now.effort ?? undefined,
        (effort) => this.#choose({ effort: effort as protocol.ReasoningEffort }),
      ),
    );
  }

  /** Only what depends on the choice is drawn again: a selection that is replaced forgets what was typed to find an entry. */
  #choose(change: TurnChoices): void {
    this.#chosen = { ...this.#chosen, ...change };
    if (change.model !== undefined) this.#drawEffort();
  }
}

function select(
  label: string,
  options: [string, string][],
  value: string | undefined,
  changed: (value: string) => void,
): HTMLElement {
  const isKnown = options.some(([it]) => it === value);
  const element = h(
    "select",
    { "aria-label": label, title: label, disabled: options.length === 0 },
    !isKnown && h("option", { value: "", selected: true, disabled: true }, value ?? `${label}: default`),
    ...options.map(([it, text]) => h("option", { value: it, selected: it === value }, text)),
  );
  element.addEventListener("change", () => changed(element.value));
  return element;
}
