// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * The state of the Git repository when the thread was stored first.
 */
export type GitInfo = { 
/**
 * The commit.
 */
sha: string | null, branch: string | null, originUrl: string | null, };
