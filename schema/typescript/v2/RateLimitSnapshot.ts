// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { CreditsSnapshot } from "./CreditsSnapshot";
import type { PlanType } from "../PlanType";
import type { RateLimitWindow } from "./RateLimitWindow";

/**
 * How much of one limit on use is spent; members the provider did not report are null.
 */
export type RateLimitSnapshot = { 
/**
 * Which limit this is; `codex` is the main one.
 */
limitId: string | null, 
/**
 * A name to show, for limits other than the main one.
 */
limitName: string | null, 
/**
 * The first time window that the limit counts in.
 */
primary: RateLimitWindow | null, 
/**
 * The second time window, where there is one.
 */
secondary: RateLimitWindow | null, 
/**
 * Set on the main limit only.
 */
credits: CreditsSnapshot | null, planType: PlanType | null, };
