// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { Turn } from "./Turn";

/**
 * Result of `turn/start`.
 */
export type TurnStartResponse = { 
/**
 * The new turn; if one is running, that one, which takes the input.
 */
turn: Turn, };
