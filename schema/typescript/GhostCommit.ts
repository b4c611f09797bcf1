// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * A commit that no branch holds, which keeps the files as they were before a turn.
 */
export type GhostCommit = { id: string, parent: string | null, 
/**
 * Files that Git did not know even then, so that undoing spares them.
 */
preexisting_untracked_files: Array<string>, 
/**
 * Directories that Git did not know even then, so that undoing spares them.
 */
preexisting_untracked_dirs: Array<string>, };
