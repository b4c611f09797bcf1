// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * A skill that cannot be used.
 */
export type SkillErrorInfo = { 
/**
 * Its `SKILL.md`; the working directory if no skill could be looked for.
 */
path: string, message: string, };
