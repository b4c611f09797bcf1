// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { CodexErrorInfo } from "./CodexErrorInfo";

/**
 * What went wrong in a turn.
 */
export type TurnError = { 
/**
 * For people.
 */
message: string, 
/**
 * For programs; null if there is nothing to say.
 */
codexErrorInfo: CodexErrorInfo | null, 
/**
 * The underlying cause; set while the request is retried.
 */
additionalDetails: string | null, };
