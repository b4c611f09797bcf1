// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ToolRequestUserInputQuestion } from "./ToolRequestUserInputQuestion";

/**
 * Parameters of the request `item/tool/requestUserInput`.
 */
export type ToolRequestUserInputParams = { threadId: string, turnId: string, 
/**
 * The id of the model's call; no item is announced for it.
 */
itemId: string, 
/**
 * Usually one to three.
 */
questions: Array<ToolRequestUserInputQuestion>, };
