// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AdditionalFileSystemPermissions } from "./AdditionalFileSystemPermissions";
import type { AdditionalNetworkPermissions } from "./AdditionalNetworkPermissions";

/**
 * Rights that the user grants: what is left out is refused, what was not asked for is ignored.
 */
export type GrantedPermissionProfile = { network?: AdditionalNetworkPermissions, fileSystem?: AdditionalFileSystemPermissions, };
