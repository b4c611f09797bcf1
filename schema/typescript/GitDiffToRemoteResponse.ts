// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { GitSha } from "./GitSha";

/**
 * Result of `gitDiffToRemote`.
 */
export type GitDiffToRemoteResponse = { 
/**
 * The commit of the remote that is compared with.
 */
sha: GitSha, 
/**
 * What differs from that commit now.
 */
diff: string, };
