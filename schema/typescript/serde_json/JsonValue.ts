// GENERATED CODE! DO NOT MODIFY BY HAND!

export type JsonValue = number | string | boolean | Array<JsonValue> | { [key in string]?: JsonValue } | null;
