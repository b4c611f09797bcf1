// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * A part of a message.
 */
export type ContentItem = { "type": "input_text", text: string, } | { "type": "input_image", 
/**
 * An `http`, `https` or `data` URL.
 */
image_url: string, } | { "type": "output_text", text: string, };
