// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AbsolutePathBuf } from "../AbsolutePathBuf";

/**
 * A marketplace that cannot be used.
 */
export type MarketplaceLoadErrorInfo = { marketplacePath: AbsolutePathBuf, message: string, };
