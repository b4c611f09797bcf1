// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { NetworkDomainPermission } from "./NetworkDomainPermission";
import type { NetworkUnixSocketPermission } from "./NetworkUnixSocketPermission";

/**
 * Rules of the proxy through which sandboxed commands reach the network.
 */
export type NetworkRequirements = { 
/**
 * Whether the proxy is used.
 */
enabled: boolean | null, httpPort: number | null, socksPort: number | null, 
/**
 * Whether the proxy may use another proxy.
 */
allowUpstreamProxy: boolean | null, 
/**
 * Whether the proxy may listen on addresses that other machines can reach.
 */
dangerouslyAllowNonLoopbackProxy: boolean | null, 
/**
 * Whether commands may connect to every Unix socket.
 */
dangerouslyAllowAllUnixSockets: boolean | null, 
/**
 * Permissions by host pattern; a denial wins.
 */
domains: { [key in string]?: NetworkDomainPermission } | null, 
/**
 * Whether users cannot allow hosts of their own.
 */
managedAllowedDomainsOnly: boolean | null, 
/**
 * The allowed patterns of `domains`, for older clients; null if there are none.
 */
allowedDomains: Array<string> | null, 
/**
 * The denied patterns of `domains`, for older clients; null if there are none.
 */
deniedDomains: Array<string> | null, 
/**
 * Permissions by the path of a Unix socket.
 */
unixSockets: { [key in string]?: NetworkUnixSocketPermission } | null, 
/**
 * The allowed paths of `unixSockets`, for older clients; null if there are none.
 */
allowUnixSockets: Array<string> | null, 
/**
 * Whether commands may reach addresses of this machine and of private networks.
 */
allowLocalBinding: boolean | null, };
