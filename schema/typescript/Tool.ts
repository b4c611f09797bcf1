// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { JsonValue } from "./serde_json/JsonValue";

/**
 * A tool of an MCP server.
 */
export type Tool = { 
/**
 * The name that the MCP server gave it.
 */
name: string, title?: string, description?: string, 
/**
 * A JSON Schema of its arguments.
 */
inputSchema: JsonValue, 
/**
 * A JSON Schema of its structured result.
 */
outputSchema?: JsonValue, 
/**
 * Hints of MCP, as received; they decide whether a call needs approval.
 */
annotations?: JsonValue, 
/**
 * As received.
 */
icons?: Array<JsonValue>, 
/**
 * As received.
 */
_meta?: JsonValue, };
