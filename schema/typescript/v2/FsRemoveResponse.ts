// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `fs/remove`.
 */
export type FsRemoveResponse = Record<string, never>;
