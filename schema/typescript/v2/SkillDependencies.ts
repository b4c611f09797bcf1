// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { SkillToolDependency } from "./SkillToolDependency";

/**
 * What a skill needs.
 */
export type SkillDependencies = { tools: Array<SkillToolDependency>, };
