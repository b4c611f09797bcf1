// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { McpElicitationObjectType } from "./McpElicitationObjectType";
import type { McpElicitationPrimitiveSchema } from "./McpElicitationPrimitiveSchema";

/**
 * A form: one level of named fields.
 */
export type McpElicitationSchema = { 
/**
 * The dialect of JSON Schema, if the MCP server names it.
 */
$schema?: string, type: McpElicitationObjectType, 
/**
 * The fields by name.
 */
properties: { [key in string]?: McpElicitationPrimitiveSchema }, 
/**
 * The names of fields that must be filled in.
 */
required?: Array<string>, };
