// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ApprovalsReviewer } from "./ApprovalsReviewer";
import type { AskForApproval } from "./AskForApproval";
import type { ReasoningEffort } from "../ReasoningEffort";
import type { SandboxPolicy } from "./SandboxPolicy";
import type { ServiceTier } from "../ServiceTier";
import type { Thread } from "./Thread";

/**
 * Result of `thread/start`.
 */
export type ThreadStartResponse = { 
/**
 * The new thread, without turns.
 */
thread: Thread, model: string, modelProvider: string, 
/**
 * Null if none is asked for.
 */
serviceTier: ServiceTier | null, cwd: string, approvalPolicy: AskForApproval, approvalsReviewer: ApprovalsReviewer, sandbox: SandboxPolicy, 
/**
 * Null leaves it to the model.
 */
reasoningEffort: ReasoningEffort | null, };
