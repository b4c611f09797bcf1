// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { McpAuthStatus } from "./McpAuthStatus";
import type { Resource } from "../Resource";
import type { ResourceTemplate } from "../ResourceTemplate";
import type { Tool } from "../Tool";

/**
 * A configured MCP server and what it offers; nothing if it does not start.
 */
export type McpServerStatus = { name: string, 
/**
 * By name, in which all but letters, digits and `_` is replaced by `_`.
 */
tools: { [key in string]?: Tool }, resources: Array<Resource>, resourceTemplates: Array<ResourceTemplate>, authStatus: McpAuthStatus, };
