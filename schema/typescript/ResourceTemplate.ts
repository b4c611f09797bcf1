// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { JsonValue } from "./serde_json/JsonValue";

/**
 * A family of resources, with an address that has gaps to fill in.
 */
export type ResourceTemplate = { 
/**
 * Hints of MCP, as received.
 */
annotations?: JsonValue, 
/**
 * A URI template of RFC 6570.
 */
uriTemplate: string, name: string, title?: string, description?: string, mimeType?: string, };
