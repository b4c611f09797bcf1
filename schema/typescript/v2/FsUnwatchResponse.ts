// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `fs/unwatch`.
 */
export type FsUnwatchResponse = Record<string, never>;
