// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AbsolutePathBuf } from "../AbsolutePathBuf";
import type { MarketplaceInterface } from "./MarketplaceInterface";
import type { PluginSummary } from "./PluginSummary";

/**
 * A marketplace and its plugins.
 */
export type PluginMarketplaceEntry = { name: string, 
/**
 * Its `marketplace.json`, which names it in other requests.
 */
path: AbsolutePathBuf, interface: MarketplaceInterface | null, plugins: Array<PluginSummary>, };
