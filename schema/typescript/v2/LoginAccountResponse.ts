// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `account/login/start`.
 */
export type LoginAccountResponse = { "type": "apiKey" } | { "type": "chatgpt", 
/**
 * Names this attempt in `account/login/cancel` and `account/login/completed`.
 */
loginId: string, 
/**
 * The page to open in the user's browser; the server does not open it.
 */
authUrl: string, } | { "type": "chatgptDeviceCode", 
/**
 * Names this attempt in `account/login/cancel` and `account/login/completed`.
 */
loginId: string, 
/**
 * The page on which the user enters the code.
 */
verificationUrl: string, 
/**
 * The code to show to the user.
 */
userCode: string, } | { "type": "chatgptAuthTokens" };
