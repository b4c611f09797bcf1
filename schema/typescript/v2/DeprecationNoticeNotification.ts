// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of the notification `deprecationNotice`.
 */
export type DeprecationNoticeNotification = { 
/**
 * What is deprecated.
 */
summary: string, 
/**
 * Why, and what to do instead, if there is more to say.
 */
details: string | null, };
