// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { CommandExecutionApprovalDecision } from "./CommandExecutionApprovalDecision";

/**
 * Answer to the request `item/commandExecution/requestApproval`.
 */
export type CommandExecutionRequestApprovalResponse = { decision: CommandExecutionApprovalDecision, };
