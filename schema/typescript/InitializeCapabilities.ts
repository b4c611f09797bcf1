// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What a connection wants and does not want.
 */
export type InitializeCapabilities = { 
/**
 * Allows methods, fields and values that are marked experimental.
 */
experimentalApi: boolean, 
/**
 * Notifications not to send, by exact method; unknown ones are ignored.
 */
optOutNotificationMethods?: Array<string> | null, };
