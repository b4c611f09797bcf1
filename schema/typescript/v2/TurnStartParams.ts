// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ApprovalsReviewer } from "./ApprovalsReviewer";
import type { AskForApproval } from "./AskForApproval";
import type { JsonValue } from "../serde_json/JsonValue";
import type { Personality } from "../Personality";
import type { ReasoningEffort } from "../ReasoningEffort";
import type { ReasoningSummary } from "../ReasoningSummary";
import type { SandboxPolicy } from "./SandboxPolicy";
import type { ServiceTier } from "../ServiceTier";
import type { UserInput } from "./UserInput";

/**
 * Parameters of `turn/start`. Settings given here last for later turns too, but for
 * `outputSchema`.
 */
export type TurnStartParams = { threadId: string, 
/**
 * Must not be empty.
 */
input: Array<UserInput>, 
/**
 * The working directory, relative to the server's own.
 */
cwd?: string | null, approvalPolicy?: AskForApproval | null, approvalsReviewer?: ApprovalsReviewer | null, sandboxPolicy?: SandboxPolicy | null, 
/**
 * The model's name, which is not checked.
 */
model?: string | null, 
/**
 * If absent, the tier stays; null asks for none.
 */
serviceTier?: ServiceTier | null, effort?: ReasoningEffort | null, summary?: ReasoningSummary | null, personality?: Personality | null, 
/**
 * A JSON Schema that the model's final message of this turn has to fit.
 */
outputSchema?: JsonValue | null, };
