// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Whether a written value takes effect.
 */
export type WriteStatus = "ok" | "okOverridden";
