// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { GuardianApprovalReviewStatus } from "./GuardianApprovalReviewStatus";
import type { GuardianRiskLevel } from "./GuardianRiskLevel";

/**
 * The reviewer's view of an action; all but `status` is null until it is done.
 */
export type GuardianApprovalReview = { status: GuardianApprovalReviewStatus, 
/**
 * From 0 to 100; an action below 80 is approved.
 */
riskScore: number | null, riskLevel: GuardianRiskLevel | null, 
/**
 * The reviewer's reason.
 */
rationale: string | null, };
