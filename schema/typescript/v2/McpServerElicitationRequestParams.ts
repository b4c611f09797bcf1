// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { JsonValue } from "../serde_json/JsonValue";
import type { McpElicitationSchema } from "./McpElicitationSchema";

/**
 * Parameters of the request `mcpServer/elicitation/request`.
 */
export type McpServerElicitationRequestParams = { threadId: string, 
/**
 * The running turn, if there is one.
 */
turnId: string | null, 
/**
 * The name of the MCP server in the configuration.
 */
serverName: string, } & ({ "mode": "form", 
/**
 * The MCP server's metadata; for approvals, the tool, its arguments and what may be
 * remembered.
 */
_meta: JsonValue | null, 
/**
 * The question to show.
 */
message: string, requestedSchema: McpElicitationSchema, } | { "mode": "url", 
/**
 * The MCP server's metadata.
 */
_meta: JsonValue | null, 
/**
 * The question to show.
 */
message: string, url: string, 
/**
 * The MCP server's id for this question.
 */
elicitationId: string, });
