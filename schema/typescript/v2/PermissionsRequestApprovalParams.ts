// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { RequestPermissionProfile } from "./RequestPermissionProfile";

/**
 * Parameters of the request `item/permissions/requestApproval`.
 */
export type PermissionsRequestApprovalParams = { threadId: string, turnId: string, 
/**
 * The id of the model's call; no item is announced for it.
 */
itemId: string, 
/**
 * What the model wants the permissions for.
 */
reason: string | null, permissions: RequestPermissionProfile, };
