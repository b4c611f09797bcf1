// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { TurnPlanStep } from "./TurnPlanStep";

/**
 * Parameters of the notification `turn/plan/updated`.
 */
export type TurnPlanUpdatedNotification = { threadId: string, turnId: string, 
/**
 * Why the plan changed.
 */
explanation: string | null, 
/**
 * All steps, which replace those of before.
 */
plan: Array<TurnPlanStep>, };
