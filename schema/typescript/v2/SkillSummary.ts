// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { SkillInterface } from "./SkillInterface";

/**
 * What a plugin shows of a skill.
 */
export type SkillSummary = { name: string, description: string, shortDescription: string | null, interface: SkillInterface | null, 
/**
 * Its `SKILL.md`.
 */
path: string, enabled: boolean, };
