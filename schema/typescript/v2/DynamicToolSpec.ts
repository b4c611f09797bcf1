// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { JsonValue } from "../serde_json/JsonValue";

/**
 * A tool that the client brings; the model's calls come as `item/tool/call`.
 */
export type DynamicToolSpec = { 
/**
 * Unique in the thread; neither `mcp` nor beginning with `mcp__`.
 */
name: string, 
/**
 * What the model goes by to use it.
 */
description: string, 
/**
 * A JSON Schema of its arguments.
 */
inputSchema: JsonValue, 
/**
 * Keeps it off the list that the model gets, until the model finds it by `tool_search` or calls it.
 */
deferLoading?: boolean, };
