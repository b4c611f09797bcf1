// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ApprovalsReviewer } from "./ApprovalsReviewer";
import type { AskForApproval } from "./AskForApproval";
import type { JsonValue } from "../serde_json/JsonValue";
import type { ReasoningEffort } from "../ReasoningEffort";
import type { ReasoningSummary } from "../ReasoningSummary";
import type { ServiceTier } from "../ServiceTier";
import type { ToolsV2 } from "./ToolsV2";
import type { Verbosity } from "../Verbosity";
import type { WebSearchMode } from "../WebSearchMode";

/**
 * The table `[profiles.<name>]`; when selected, it wins over the top level.
 */
export type ProfileV2 = { model: string | null, model_provider: string | null, approval_policy: AskForApproval | null, approvals_reviewer: ApprovalsReviewer | null, service_tier: ServiceTier | null, model_reasoning_effort: ReasoningEffort | null, model_reasoning_summary: ReasoningSummary | null, model_verbosity: Verbosity | null, web_search: WebSearchMode | null, tools: ToolsV2 | null, 
/**
 * Where the ChatGPT backend is reached.
 */
chatgpt_base_url: string | null, } & ({ [key in string]?: JsonValue });
