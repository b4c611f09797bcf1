// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * How to show a skill.
 */
export type SkillInterface = { displayName?: string, shortDescription?: string, 
/**
 * An absolute path, which need not exist.
 */
iconSmall?: string, 
/**
 * An absolute path, which need not exist.
 */
iconLarge?: string, 
/**
 * As `#RRGGBB`.
 */
brandColor?: string, 
/**
 * Something to start with.
 */
defaultPrompt?: string, };
