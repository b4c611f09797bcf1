// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ByteRange } from "./ByteRange";

/**
 * A part of a text that the client shows in its own way.
 */
export type TextElement = { byteRange: ByteRange, 
/**
 * What to show in its place.
 */
placeholder: string | null, };
