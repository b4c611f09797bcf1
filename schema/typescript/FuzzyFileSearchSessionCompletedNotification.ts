// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of the notification `fuzzyFileSearch/sessionCompleted`.
 */
export type FuzzyFileSearchSessionCompletedNotification = { sessionId: string, };
