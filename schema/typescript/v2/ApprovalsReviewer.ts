// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Who answers the agent's approval questions.
 */
export type ApprovalsReviewer = "user" | "guardian_subagent";
