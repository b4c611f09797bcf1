// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ModeKind } from "../ModeKind";
import type { ReasoningEffort } from "../ReasoningEffort";

/**
 * A preset of a way of working together; null members leave things as they are.
 */
export type CollaborationModeMask = { 
/**
 * The name to show.
 */
name: string, mode: ModeKind | null, model: string | null, reasoning_effort: ReasoningEffort | null, };
