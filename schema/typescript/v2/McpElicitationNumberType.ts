// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * The `type` of a number field.
 */
export type McpElicitationNumberType = "number" | "integer";
