// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ReasoningEffort } from "./ReasoningEffort";

/**
 * The settings of a way of working together.
 */
export type Settings = { 
/**
 * Takes the place of the thread's model.
 */
model: string, 
/**
 * Takes the place of the thread's effort.
 */
reasoning_effort: ReasoningEffort | null, 
/**
 * Null uses the built-in ones of the mode.
 */
developer_instructions: string | null, };
