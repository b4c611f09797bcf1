// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * The answer to a patch that needs approval.
 */
export type FileChangeApprovalDecision = "accept" | "acceptForSession" | "decline" | "cancel";
