// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What a part of a command line seems to do; a guess, for display only.
 */
export type CommandAction = { "type": "read", 
/**
 * The part of the command line.
 */
command: string, 
/**
 * The name of the file, to show.
 */
name: string, 
/**
 * The path as written, below the target of a `cd` before it.
 */
path: string, } | { "type": "listFiles", 
/**
 * The part of the command line.
 */
command: string, path: string | null, } | { "type": "search", 
/**
 * The part of the command line.
 */
command: string, query: string | null, path: string | null, } | { "type": "unknown", 
/**
 * The whole command line.
 */
command: string, };
