// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AnalyticsConfig } from "./AnalyticsConfig";
import type { ApprovalsReviewer } from "./ApprovalsReviewer";
import type { AskForApproval } from "./AskForApproval";
import type { ForcedLoginMethod } from "../ForcedLoginMethod";
import type { JsonValue } from "../serde_json/JsonValue";
import type { ProfileV2 } from "./ProfileV2";
import type { ReasoningEffort } from "../ReasoningEffort";
import type { ReasoningSummary } from "../ReasoningSummary";
import type { SandboxMode } from "./SandboxMode";
import type { SandboxWorkspaceWrite } from "./SandboxWorkspaceWrite";
import type { ServiceTier } from "../ServiceTier";
import type { ToolsV2 } from "./ToolsV2";
import type { Verbosity } from "../Verbosity";
import type { WebSearchMode } from "../WebSearchMode";

/**
 * The settings; null where no layer sets one.
 */
export type Config = { model: string | null, 
/**
 * The model of `review/start`; the thread's if null.
 */
review_model: string | null, 
/**
 * Tokens that the model can hold, in place of what the catalogue says.
 */
model_context_window: bigint | null, 
/**
 * Tokens in use at which the history is compacted, at most 90 % of the window.
 */
model_auto_compact_token_limit: bigint | null, 
/**
 * A key of `model_providers`; `openai` if null.
 */
model_provider: string | null, 
/**
 * If null, `untrusted` for projects marked so, else `on-request`.
 */
approval_policy: AskForApproval | null, approvals_reviewer: ApprovalsReviewer | null, 
/**
 * If null, `workspace-write` for projects with a trust entry, else `read-only`.
 */
sandbox_mode: SandboxMode | null, 
/**
 * What the mode `workspace-write` allows.
 */
sandbox_workspace_write: SandboxWorkspaceWrite | null, 
/**
 * The only workspace that a ChatGPT login may use.
 */
forced_chatgpt_workspace_id: string | null, 
/**
 * The only login that is possible.
 */
forced_login_method: ForcedLoginMethod | null, 
/**
 * `cached` if null.
 */
web_search: WebSearchMode | null, tools: ToolsV2 | null, 
/**
 * The selected key of `profiles`.
 */
profile: string | null, 
/**
 * Sets of settings to select from.
 */
profiles: { [key in string]?: ProfileV2 }, 
/**
 * Has no effect; kept for older files.
 */
instructions: string | null, 
/**
 * Given to the model besides its own instructions.
 */
developer_instructions: string | null, 
/**
 * Replaces the built-in prompt that asks the model to sum up its history.
 */
compact_prompt: string | null, 
/**
 * The model's default if null.
 */
model_reasoning_effort: ReasoningEffort | null, model_reasoning_summary: ReasoningSummary | null, 
/**
 * The model's default if null.
 */
model_verbosity: Verbosity | null, service_tier: ServiceTier | null, analytics: AnalyticsConfig | null, } & ({ [key in string]?: JsonValue });
