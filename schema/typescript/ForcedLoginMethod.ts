// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * The only login that is possible.
 */
export type ForcedLoginMethod = "chatgpt" | "api";
