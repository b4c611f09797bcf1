// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `fs/copy`.
 */
export type FsCopyResponse = Record<string, never>;
