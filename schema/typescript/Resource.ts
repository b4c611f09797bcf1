// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { JsonValue } from "./serde_json/JsonValue";

/**
 * Something that an MCP server lets others read.
 */
export type Resource = { 
/**
 * Hints of MCP, as received.
 */
annotations?: JsonValue, description?: string, mimeType?: string, name: string, 
/**
 * In bytes.
 */
size?: number, title?: string, uri: string, 
/**
 * As received.
 */
icons?: Array<JsonValue>, 
/**
 * As received.
 */
_meta?: JsonValue, };
