// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * How long granted rights last.
 */
export type PermissionGrantScope = "turn" | "session";
