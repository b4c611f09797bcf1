// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Whether a sandbox around the server lets commands reach the network.
 */
export type NetworkAccess = "restricted" | "enabled";
