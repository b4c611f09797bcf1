// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AbsolutePathBuf } from "../AbsolutePathBuf";

/**
 * Parameters of `skills/config/write`.
 */
export type SkillsConfigWriteParams = { 
/**
 * The `SKILL.md` of the skill; either this or `name`.
 */
path?: AbsolutePathBuf | null, 
/**
 * The name of the skill; either this or `path`.
 */
name?: string | null, enabled: boolean, };
