// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * How far a step has come.
 */
export type TurnPlanStepStatus = "pending" | "inProgress" | "completed";
