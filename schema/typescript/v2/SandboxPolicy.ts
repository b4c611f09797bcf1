// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AbsolutePathBuf } from "../AbsolutePathBuf";
import type { NetworkAccess } from "./NetworkAccess";
import type { ReadOnlyAccess } from "./ReadOnlyAccess";

/**
 * What commands may do on their own, in detail.
 */
export type SandboxPolicy = { "type": "dangerFullAccess" } | { "type": "readOnly", access: ReadOnlyAccess, networkAccess: boolean, } | { "type": "externalSandbox", 
/**
 * What that sandbox allows; the model is told, nothing is enforced.
 */
networkAccess: NetworkAccess, } | { "type": "workspaceWrite", 
/**
 * Directories to write in besides the working directory.
 */
writableRoots: Array<AbsolutePathBuf>, 
/**
 * What may be read beyond the directories to write in.
 */
readOnlyAccess: ReadOnlyAccess, networkAccess: boolean, 
/**
 * Forbids writing in the directory that `TMPDIR` names.
 */
excludeTmpdirEnvVar: boolean, 
/**
 * Forbids writing in `/tmp`.
 */
excludeSlashTmp: boolean, };
