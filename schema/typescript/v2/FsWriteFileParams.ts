// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AbsolutePathBuf } from "../AbsolutePathBuf";

/**
 * Parameters of `fs/writeFile`.
 */
export type FsWriteFileParams = { 
/**
 * Created or overwritten; its directory must exist.
 */
path: AbsolutePathBuf, 
/**
 * The whole content, in base64.
 */
dataBase64: string, };
