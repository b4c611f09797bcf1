// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { JsonValue } from "../serde_json/JsonValue";

/**
 * What an MCP server returned.
 */
export type McpToolCallResult = { 
/**
 * Content blocks of MCP, as received.
 */
content: Array<JsonValue>, 
/**
 * The result as one value, if the tool returns one.
 */
structuredContent: JsonValue | null, };
