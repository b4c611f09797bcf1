// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * How far a local shell call has come.
 */
export type LocalShellStatus = "completed" | "in_progress" | "incomplete";
