// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { McpElicitationNumberType } from "./McpElicitationNumberType";

/**
 * A number field.
 */
export type McpElicitationNumberSchema = { type: McpElicitationNumberType, title?: string, description?: string, minimum?: number, maximum?: number, default?: number, };
