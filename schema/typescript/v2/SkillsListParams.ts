// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { SkillsListExtraRootsForCwd } from "./SkillsListExtraRootsForCwd";

/**
 * Parameters of `skills/list`.
 */
export type SkillsListParams = { 
/**
 * The working directories to list skills for; the server's own if empty.
 */
cwds?: Array<string>, 
/**
 * Looks on the disk again instead of using an earlier list.
 */
forceReload?: boolean, perCwdExtraUserRoots?: Array<SkillsListExtraRootsForCwd> | null, };
