// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { NetworkApprovalProtocol } from "./NetworkApprovalProtocol";

/**
 * The host that a sandboxed command tries to reach.
 */
export type NetworkApprovalContext = { host: string, protocol: NetworkApprovalProtocol, };
