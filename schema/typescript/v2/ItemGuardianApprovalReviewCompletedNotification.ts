// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { GuardianApprovalReview } from "./GuardianApprovalReview";
import type { JsonValue } from "../serde_json/JsonValue";

/**
 * Parameters of the notification `item/autoApprovalReview/completed`.
 */
export type ItemGuardianApprovalReviewCompletedNotification = { threadId: string, turnId: string, 
/**
 * The item that waits for the review.
 */
targetItemId: string, review: GuardianApprovalReview, 
/**
 * What is reviewed, as an object whose member `tool` says which members follow.
 */
action: JsonValue | null, };
