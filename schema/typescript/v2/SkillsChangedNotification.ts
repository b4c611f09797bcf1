// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of the notification `skills/changed`: lists of skills are out of date.
 */
export type SkillsChangedNotification = Record<string, never>;
