// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Answer to the request `account/chatgptAuthTokens/refresh`.
 */
export type ChatgptAuthTokensRefreshResponse = { accessToken: string, 
/**
 * The workspace that the token is for.
 */
chatgptAccountId: string, 
/**
 * The plan's name; if null, the token's claim counts.
 */
chatgptPlanType: string | null, };
