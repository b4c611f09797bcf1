// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ImageDetail } from "./ImageDetail";

/**
 * A part of what a tool returned.
 */
export type FunctionCallOutputContentItem = { "type": "input_text", text: string, } | { "type": "input_image", 
/**
 * An `http`, `https` or `data` URL.
 */
image_url: string, detail?: ImageDetail, };
