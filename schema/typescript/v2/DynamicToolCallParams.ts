// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { JsonValue } from "../serde_json/JsonValue";

/**
 * Parameters of the request `item/tool/call`.
 */
export type DynamicToolCallParams = { threadId: string, turnId: string, 
/**
 * The id of the `dynamicToolCall` item.
 */
callId: string, 
/**
 * A name that `thread/start` declared in `dynamicTools`.
 */
tool: string, 
/**
 * The model's arguments, already parsed.
 */
arguments: JsonValue, };
