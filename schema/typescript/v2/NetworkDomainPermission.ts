// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Whether commands may reach a host.
 */
export type NetworkDomainPermission = "allow" | "deny";
