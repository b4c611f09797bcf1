// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * The `type` of a field with several choices.
 */
export type McpElicitationArrayType = "array";
