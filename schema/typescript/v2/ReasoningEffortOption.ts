// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ReasoningEffort } from "../ReasoningEffort";

/**
 * An effort that a model supports.
 */
export type ReasoningEffortOption = { reasoningEffort: ReasoningEffort, 
/**
 * What it is good for.
 */
description: string, };
