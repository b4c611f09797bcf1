// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * More directories to look in for one working directory.
 */
export type SkillsListExtraRootsForCwd = { 
/**
 * One of `cwds`; others are ignored.
 */
cwd: string, 
/**
 * Absolute paths; skills in them have the scope `user`.
 */
extraUserRoots: Array<string>, };
