// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ToolRequestUserInputAnswer } from "./ToolRequestUserInputAnswer";

/**
 * Answer to the request `item/tool/requestUserInput`.
 */
export type ToolRequestUserInputResponse = { 
/**
 * The answers by the `id` of their question; questions left out count as unanswered.
 */
answers: { [key in string]?: ToolRequestUserInputAnswer }, };
