// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AuthMode } from "../AuthMode";
import type { PlanType } from "../PlanType";

/**
 * Parameters of the notification `account/updated`.
 */
export type AccountUpdatedNotification = { 
/**
 * Null after a logout.
 */
authMode: AuthMode | null, 
/**
 * Null unless it is a ChatGPT login.
 */
planType: PlanType | null, };
