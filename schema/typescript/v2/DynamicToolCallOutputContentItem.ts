// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * A part of what a tool of the client returns.
 */
export type DynamicToolCallOutputContentItem = { "type": "inputText", text: string, } | { "type": "inputImage", 
/**
 * An `http`, `https` or `data` URL.
 */
imageUrl: string, };
