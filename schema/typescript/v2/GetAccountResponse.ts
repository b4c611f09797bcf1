// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { Account } from "./Account";

/**
 * Result of `account/read`.
 */
export type GetAccountResponse = { 
/**
 * Null when nobody is logged in, and when the configured provider needs no login.
 */
account: Account | null, 
/**
 * Whether the configured model provider works only with an OpenAI login.
 */
requiresOpenaiAuth: boolean, };
