// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { TurnPlanStepStatus } from "./TurnPlanStepStatus";

/**
 * A step of the model's plan.
 */
export type TurnPlanStep = { step: string, status: TurnPlanStepStatus, };
