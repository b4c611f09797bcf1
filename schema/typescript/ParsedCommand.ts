// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What a part of a command line seems to do, as the first protocol version shows it.
 */
export type ParsedCommand = { "type": "read", cmd: string, name: string, 
/**
 * The path as written in the command.
 */
path: string, } | { "type": "list_files", cmd: string, path: string | null, } | { "type": "search", cmd: string, query: string | null, path: string | null, } | { "type": "unknown", cmd: string, };
