// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `gitDiffToRemote`.
 */
export type GitDiffToRemoteParams = { cwd: string, };
