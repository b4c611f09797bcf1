// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ApprovalsReviewer } from "./ApprovalsReviewer";
import type { AskForApproval } from "./AskForApproval";
import type { JsonValue } from "../serde_json/JsonValue";
import type { SandboxMode } from "./SandboxMode";
import type { ServiceTier } from "../ServiceTier";

/**
 * Parameters of `thread/fork`.
 */
export type ThreadForkParams = { 
/**
 * The source, which stays as it is; always needed, though `path` wins over it.
 */
threadId: string, 
/**
 * The model's name, which is not checked; the configured one if absent, not the source's.
 */
model?: string | null, 
/**
 * A key of `model_providers` in the configuration.
 */
modelProvider?: string | null, 
/**
 * If absent, the configured one; null asks for none.
 */
serviceTier?: ServiceTier | null, 
/**
 * The working directory; the one of the source if absent.
 */
cwd?: string | null, 
/**
 * If absent, the configured one.
 */
approvalPolicy?: AskForApproval | null, 
/**
 * If absent, the configured one.
 */
approvalsReviewer?: ApprovalsReviewer | null, 
/**
 * If absent, the configured one.
 */
sandbox?: SandboxMode | null, 
/**
 * Settings for this thread by dotted key, as in `config.toml`; other parameters win.
 */
config?: { [key in string]?: JsonValue } | null, 
/**
 * Takes the place of the instructions that the thread was started with.
 */
baseInstructions?: string | null, 
/**
 * Given to the model besides its own instructions.
 */
developerInstructions?: string | null, 
/**
 * Keeps the fork in memory only.
 */
ephemeral?: boolean, };
