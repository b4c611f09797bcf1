// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ReviewDecision } from "./ReviewDecision";

/**
 * Answer to the request `execCommandApproval`.
 */
export type ExecCommandApprovalResponse = { decision: ReviewDecision, };
