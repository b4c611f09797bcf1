// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { InputModality } from "../InputModality";
import type { ModelAvailabilityNux } from "./ModelAvailabilityNux";
import type { ModelUpgradeInfo } from "./ModelUpgradeInfo";
import type { ReasoningEffort } from "../ReasoningEffort";
import type { ReasoningEffortOption } from "./ReasoningEffortOption";

/**
 * A model to choose from.
 */
export type Model = { 
/**
 * Identifies the model in the list.
 */
id: string, 
/**
 * The name to give in `thread/start` and `turn/start`.
 */
model: string, 
/**
 * The model to use instead, if there is a better one.
 */
upgrade: string | null, 
/**
 * What to tell the user about that model.
 */
upgradeInfo: ModelUpgradeInfo | null, 
/**
 * What to tell the user about this model when it is new.
 */
availabilityNux: ModelAvailabilityNux | null, displayName: string, description: string, 
/**
 * Whether it is not meant to be picked; only with `includeHidden`.
 */
hidden: boolean, supportedReasoningEfforts: Array<ReasoningEffortOption>, 
/**
 * `none` if the model has no default.
 */
defaultReasoningEffort: ReasoningEffort, inputModalities: Array<InputModality>, 
/**
 * Whether `personality` has an effect.
 */
supportsPersonality: boolean, 
/**
 * Whether it is used when nothing is configured; true of one model.
 */
isDefault: boolean, };
