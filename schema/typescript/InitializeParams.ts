// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ClientInfo } from "./ClientInfo";
import type { InitializeCapabilities } from "./InitializeCapabilities";

/**
 * Parameters of `initialize`.
 */
export type InitializeParams = { clientInfo: ClientInfo, capabilities: InitializeCapabilities | null, };
