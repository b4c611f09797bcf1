// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ApprovalsReviewer } from "./ApprovalsReviewer";
import type { AskForApproval } from "./AskForApproval";
import type { JsonValue } from "../serde_json/JsonValue";
import type { Personality } from "../Personality";
import type { SandboxMode } from "./SandboxMode";
import type { ServiceTier } from "../ServiceTier";

/**
 * Parameters of `thread/start`.
 */
export type ThreadStartParams = { 
/**
 * The model's name, which is not checked; the configured one if absent.
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
 * The working directory, relative to the server's own, which is also the default.
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
 * A label for metrics.
 */
serviceName?: string | null, 
/**
 * Takes the place of the model's own instructions.
 */
baseInstructions?: string | null, 
/**
 * Given to the model besides its own instructions.
 */
developerInstructions?: string | null, personality?: Personality | null, 
/**
 * Keeps the thread in memory only; `false` if nothing is configured.
 */
ephemeral?: boolean | null, };
