// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { CancelLoginAccountStatus } from "./CancelLoginAccountStatus";

/**
 * Result of `account/login/cancel`.
 */
export type CancelLoginAccountResponse = { status: CancelLoginAccountStatus, };
