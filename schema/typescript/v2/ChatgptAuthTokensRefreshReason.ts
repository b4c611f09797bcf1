// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Why the server needs fresh tokens.
 */
export type ChatgptAuthTokensRefreshReason = "unauthorized";
