// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { JsonValue } from "../serde_json/JsonValue";
import type { McpServerElicitationAction } from "./McpServerElicitationAction";

/**
 * Answer to the request `mcpServer/elicitation/request`.
 */
export type McpServerElicitationRequestResponse = { action: McpServerElicitationAction, 
/**
 * The form's values by name; only looked at with `accept`, where null counts as empty.
 */
content: JsonValue | null, 
/**
 * For a tool approval, `{"persist": "session"}` or `"always"` makes it last.
 */
_meta: JsonValue | null, };
