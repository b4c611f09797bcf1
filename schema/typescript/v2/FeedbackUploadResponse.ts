// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `feedback/upload`.
 */
export type FeedbackUploadResponse = { 
/**
 * What the report is filed under; made up if it names no thread.
 */
threadId: string, };
