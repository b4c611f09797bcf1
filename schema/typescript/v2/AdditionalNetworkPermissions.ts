// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Network access beyond the sandbox.
 */
export type AdditionalNetworkPermissions = { 
/**
 * Only `true` asks for access, or grants it.
 */
enabled: boolean | null, };
