// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ApprovalsReviewer } from "./ApprovalsReviewer";
import type { AskForApproval } from "./AskForApproval";
import type { ReasoningEffort } from "../ReasoningEffort";
import type { SandboxPolicy } from "./SandboxPolicy";
import type { ServiceTier } from "../ServiceTier";
import type { Thread } from "./Thread";

/**
 * Result of `thread/fork`.
 */
export type ThreadForkResponse = { 
/**
 * The new thread with a copy of the turns; one that is running is `interrupted` in it.
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
