// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `thread/name/set`.
 */
export type ThreadSetNameResponse = Record<string, never>;
