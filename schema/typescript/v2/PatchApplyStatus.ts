// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * How far a patch has come.
 */
export type PatchApplyStatus = "inProgress" | "completed" | "failed" | "declined";
