// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `fs/getMetadata`.
 */
export type FsGetMetadataResponse = { isDirectory: boolean, isFile: boolean, 
/**
 * In Unix milliseconds; 0 if unknown.
 */
createdAtMs: number, 
/**
 * In Unix milliseconds; 0 if unknown.
 */
modifiedAtMs: number, };
