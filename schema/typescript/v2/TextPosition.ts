// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * A place in a text file; both numbers count from 1.
 */
export type TextPosition = { line: number, 
/**
 * Counted in characters.
 */
column: number, };
