// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `account/read`.
 */
export type GetAccountParams = { 
/**
 * Refreshes tokens that the server manages before answering; a failure is not reported.
 */
refreshToken: boolean, };
