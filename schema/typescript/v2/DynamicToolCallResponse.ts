// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { DynamicToolCallOutputContentItem } from "./DynamicToolCallOutputContentItem";

/**
 * Answer to the request `item/tool/call`.
 */
export type DynamicToolCallResponse = { 
/**
 * The tool's output for the model, also when it failed.
 */
contentItems: Array<DynamicToolCallOutputContentItem>, 
/**
 * Whether the item ends as `completed` or as `failed`.
 */
success: boolean, };
