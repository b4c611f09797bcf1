// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `fs/writeFile`.
 */
export type FsWriteFileResponse = Record<string, never>;
