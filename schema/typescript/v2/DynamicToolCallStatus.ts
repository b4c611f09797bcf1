// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * How far a call of a client's tool has come.
 */
export type DynamicToolCallStatus = "inProgress" | "completed" | "failed";
