// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * A range of bytes in a text in UTF-8.
 */
export type ByteRange = { start: number, 
/**
 * The byte after the last one.
 */
end: number, };
