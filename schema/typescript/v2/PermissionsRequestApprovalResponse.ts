// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { GrantedPermissionProfile } from "./GrantedPermissionProfile";
import type { PermissionGrantScope } from "./PermissionGrantScope";

/**
 * Answer to the request `item/permissions/requestApproval`.
 */
export type PermissionsRequestApprovalResponse = { permissions: GrantedPermissionProfile, scope: PermissionGrantScope, };
