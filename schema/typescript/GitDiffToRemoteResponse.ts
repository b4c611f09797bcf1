// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { GitSha } from "./GitSha";

/**
 * Result of `gitDiffToRemote`.
 */
export type GitDiffToRemoteResponse = { 
/**
 * The newest commit that the remote has as well.
 */
sha: GitSha, 
/**
 * What differs from that commit now.
 */
diff: string, };
