// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { SkillErrorInfo } from "./SkillErrorInfo";
import type { SkillMetadata } from "./SkillMetadata";

/**
 * The skills for one working directory.
 */
export type SkillsListEntry = { 
/**
 * As in the request.
 */
cwd: string, 
/**
 * Sorted by scope (`repo`, `user`, `system`, `admin`), then by name.
 */
skills: Array<SkillMetadata>, errors: Array<SkillErrorInfo>, };
