// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * How far a turn has come.
 */
export type TurnStatus = "completed" | "interrupted" | "failed" | "inProgress";
