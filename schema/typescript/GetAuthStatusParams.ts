// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `getAuthStatus`.
 */
export type GetAuthStatusParams = { 
/**
 * Also returns the token.
 */
includeToken: boolean | null, 
/**
 * Refreshes tokens that the server manages before answering.
 */
refreshToken: boolean | null, };
