// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What a text field has to look like.
 */
export type McpElicitationStringFormat = "email" | "uri" | "date" | "date-time";
