// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { MarketplaceLoadErrorInfo } from "./MarketplaceLoadErrorInfo";
import type { PluginMarketplaceEntry } from "./PluginMarketplaceEntry";

/**
 * Result of `plugin/list`.
 */
export type PluginListResponse = { marketplaces: Array<PluginMarketplaceEntry>, 
/**
 * Marketplaces that are left out, and why.
 */
marketplaceLoadErrors: Array<MarketplaceLoadErrorInfo>, 
/**
 * Why `forceRemoteSync` failed; the list is still good.
 */
remoteSyncError: string | null, 
/**
 * Plugins that the curated marketplace puts first; empty if that is not known.
 */
featuredPluginIds: Array<string>, };
