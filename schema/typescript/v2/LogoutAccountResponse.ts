// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `account/logout`.
 */
export type LogoutAccountResponse = Record<string, never>;
