// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { FileChange } from "./FileChange";
import type { ThreadId } from "./ThreadId";

/**
 * Parameters of the request `applyPatchApproval`, sent only in threads with `legacy_approvals`.
 */
export type ApplyPatchApprovalParams = { conversationId: ThreadId, 
/**
 * The model's call that proposes the patch.
 */
callId: string, 
/**
 * The proposed changes by path.
 */
fileChanges: { [key in string]?: FileChange }, 
/**
 * Why approval is needed, when there is more to say.
 */
reason: string | null, 
/**
 * A directory below which the agent wants to write for the rest of the session.
 */
grantRoot: string | null, };
