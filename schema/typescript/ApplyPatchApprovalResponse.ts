// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ReviewDecision } from "./ReviewDecision";

/**
 * Answer to the request `applyPatchApproval`.
 */
export type ApplyPatchApprovalResponse = { decision: ReviewDecision, };
