// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `skills/config/write`.
 */
export type SkillsConfigWriteResponse = { 
/**
 * Whether the skill is enabled now.
 */
effectiveEnabled: boolean, };
