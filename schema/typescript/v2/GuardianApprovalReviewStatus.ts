// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * How far a review has come.
 */
export type GuardianApprovalReviewStatus = "inProgress" | "approved" | "denied" | "aborted";
