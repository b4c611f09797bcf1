// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * A way of working together.
 */
export type ModeKind = "plan" | "default";
