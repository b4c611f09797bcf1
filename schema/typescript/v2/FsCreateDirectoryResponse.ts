// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `fs/createDirectory`.
 */
export type FsCreateDirectoryResponse = Record<string, never>;
