// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Some lines of a file of notes.
 */
export type MemoryCitationEntry = { path: string, lineStart: number, lineEnd: number, 
/**
 * What the model says about them.
 */
note: string, };
