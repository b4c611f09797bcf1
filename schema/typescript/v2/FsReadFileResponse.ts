// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `fs/readFile`.
 */
export type FsReadFileResponse = { 
/**
 * The whole content, in base64.
 */
dataBase64: string, };
