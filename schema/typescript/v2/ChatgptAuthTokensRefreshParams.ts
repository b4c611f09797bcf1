// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ChatgptAuthTokensRefreshReason } from "./ChatgptAuthTokensRefreshReason";

/**
 * Parameters of the request `account/chatgptAuthTokens/refresh`.
 */
export type ChatgptAuthTokensRefreshParams = { reason: ChatgptAuthTokensRefreshReason, 
/**
 * The workspace of the refused token, for clients that hold several.
 */
previousAccountId?: string | null, };
