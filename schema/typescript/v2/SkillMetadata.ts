// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { SkillDependencies } from "./SkillDependencies";
import type { SkillInterface } from "./SkillInterface";
import type { SkillScope } from "./SkillScope";

/**
 * A skill.
 */
export type SkillMetadata = { 
/**
 * At most 64 characters; skills of plugins are named `<plugin>:<skill>`.
 */
name: string, 
/**
 * What the model goes by to pick it; at most 1024 characters.
 */
description: string, 
/**
 * From `SKILL.md`; the one in `interface` is newer.
 */
shortDescription?: string, interface?: SkillInterface, dependencies?: SkillDependencies, 
/**
 * Its `SKILL.md`.
 */
path: string, scope: SkillScope, enabled: boolean, };
