// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { TextPosition } from "./TextPosition";

/**
 * A stretch of a text file.
 */
export type TextRange = { start: TextPosition, end: TextPosition, };
