// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * How far a command has come.
 */
export type CommandExecutionStatus = "inProgress" | "completed" | "failed" | "declined";
