// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { McpElicitationBooleanType } from "./McpElicitationBooleanType";

/**
 * A yes-or-no field.
 */
export type McpElicitationBooleanSchema = { type: McpElicitationBooleanType, title?: string, description?: string, default?: boolean, };
