// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ApprovalsReviewer } from "./ApprovalsReviewer";
import type { AskForApproval } from "./AskForApproval";
import type { JsonValue } from "../serde_json/JsonValue";
import type { Personality } from "../Personality";
import type { SandboxMode } from "./SandboxMode";
import type { ServiceTier } from "../ServiceTier";

/**
 * Parameters of `thread/resume`. If the thread is loaded, the caller joins it as it is and
 * settings are ignored.
 */
export type ThreadResumeParams = { 
/**
 * Always needed, though `history` and `path` win over it.
 */
threadId: string, 
/**
 * The model's name, which is not checked; the one last used in the thread if absent.
 */
model?: string | null, 
/**
 * A key of `model_providers`. This or `model` drops both model and effort last used.
 */
modelProvider?: string | null, 
/**
 * If absent, the configured one; null asks for none.
 */
serviceTier?: ServiceTier | null, 
/**
 * The working directory; the one of the thread if absent.
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
developerInstructions?: string | null, personality?: Personality | null, };
