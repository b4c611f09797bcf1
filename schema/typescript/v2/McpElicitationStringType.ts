// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * The `type` of a text field.
 */
export type McpElicitationStringType = "string";
