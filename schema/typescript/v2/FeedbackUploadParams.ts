// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `feedback/upload`.
 */
export type FeedbackUploadParams = { 
/**
 * The kind of report, such as `bug`, `bad_result` or `safety_check`.
 */
classification: string, 
/**
 * The user's own words.
 */
reason?: string | null, threadId?: string | null, 
/**
 * Attaches the server's log.
 */
includeLogs: boolean, 
/**
 * Paths of more files to attach; those that cannot be read are skipped.
 */
extraLogFiles?: Array<string> | null, };
