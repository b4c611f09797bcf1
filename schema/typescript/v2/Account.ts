// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { PlanType } from "../PlanType";

/**
 * Who is logged in.
 */
export type Account = { "type": "apiKey" } | { "type": "chatgpt", email: string, planType: PlanType, };
