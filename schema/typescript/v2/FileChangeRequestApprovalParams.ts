// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of the request `item/fileChange/requestApproval`.
 */
export type FileChangeRequestApprovalParams = { threadId: string, turnId: string, 
/**
 * The `fileChange` item; its `item/started` carried the diff.
 */
itemId: string, 
/**
 * Set when a patch that failed is to be tried again outside the sandbox.
 */
reason?: string | null, 
/**
 * A directory below which the agent wants to write for the rest of the session; unstable.
 */
grantRoot?: string | null, };
