// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { TextRange } from "./TextRange";

/**
 * Parameters of the notification `configWarning`.
 */
export type ConfigWarningNotification = { 
/**
 * What is wrong, in one line.
 */
summary: string, 
/**
 * What exactly is wrong, if there is more to say.
 */
details: string | null, 
/**
 * The file at fault, if it is a single one.
 */
path?: string, 
/**
 * The place in that file.
 */
range?: TextRange, };
