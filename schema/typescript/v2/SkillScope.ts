// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Where a skill comes from.
 */
export type SkillScope = "user" | "repo" | "system" | "admin";
