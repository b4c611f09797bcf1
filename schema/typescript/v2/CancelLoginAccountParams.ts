// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `account/login/cancel`.
 */
export type CancelLoginAccountParams = { 
/**
 * The `loginId` from the result of `account/login/start`.
 */
loginId: string, };
