// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `thread/archive`.
 */
export type ThreadArchiveResponse = Record<string, never>;
