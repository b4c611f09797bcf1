// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { SkillsListEntry } from "./SkillsListEntry";

/**
 * Result of `skills/list`.
 */
export type SkillsListResponse = { 
/**
 * One entry per working directory, in the order of the request.
 */
data: Array<SkillsListEntry>, };
