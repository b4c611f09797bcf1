// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of the notification `account/login/completed`.
 */
export type AccountLoginCompletedNotification = { 
/**
 * The attempt that ended; null for API keys and for tokens of the client.
 */
loginId: string | null, success: boolean, 
/**
 * Why the login failed; null on success.
 */
error: string | null, };
