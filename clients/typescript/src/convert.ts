/** The words of the everyday API become the words that servers take. */

import type * as protocol from "./generated/protocol.ts";
import type { ReviewTarget, SandboxPolicy } from "./types.ts";

/** What a base is if none is named. */
const BASE_BRANCH = "main";

/**
 * The protocol has no policy that asks about everything: `untrusted`, which asks about every command that is
 * not known to only read, is the closest to `always`. A server judges words that this package does not know.
 */
export function approvalPolicy(policy: string | protocol.AskForApproval): protocol.AskForApproval {
  if (policy === "unlessTrusted" || policy === "always") return "untrusted";
  return policy as protocol.AskForApproval;
}

/** `workspaceWrite` as `workspace-write`. */
export function sandboxMode(mode: string): protocol.SandboxMode {
  return mode.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`) as protocol.SandboxMode;
}

/** The detailed policies of both APIs have the same shape; servers fill in what is left out. */
export function sandboxPolicy(policy: SandboxPolicy | protocol.SandboxPolicy): protocol.SandboxPolicy {
  return policy as protocol.SandboxPolicy;
}

/** Servers need a branch to compare with, and instructions to follow. */
export function reviewTarget(target: ReviewTarget): protocol.ReviewTarget {
  switch (target.type) {
    case "baseBranch":
      return { type: "baseBranch", branch: target.branch ?? BASE_BRANCH };
    case "custom":
      return target.instructions === undefined
        ? { type: "uncommittedChanges" }
        : { type: "custom", instructions: target.instructions };
    default:
      return target;
  }
}

/** The object without its undefined members, as JSON has them, over what is the default. */
export function over<T extends object>(defaults: Partial<T>, given: T): T {
  const kept = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(kept) } as T;
}
