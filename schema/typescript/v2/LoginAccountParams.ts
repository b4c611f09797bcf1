// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `account/login/start`.
 */
export type LoginAccountParams = { "type": "apiKey", apiKey: string, } | { "type": "chatgpt" } | { "type": "chatgptDeviceCode" } | { "type": "chatgptAuthTokens", 
/**
 * A JWT; its claims contain the email, and the plan if none is given.
 */
accessToken: string, 
/**
 * The workspace that the token is for.
 */
chatgptAccountId: string, 
/**
 * The plan's name; if absent, the token's claim counts, else the plan is `unknown`.
 */
chatgptPlanType?: string | null, };
