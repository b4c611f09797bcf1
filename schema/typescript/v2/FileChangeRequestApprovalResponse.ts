// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { FileChangeApprovalDecision } from "./FileChangeApprovalDecision";

/**
 * Answer to the request `item/fileChange/requestApproval`.
 */
export type FileChangeRequestApprovalResponse = { decision: FileChangeApprovalDecision, };
