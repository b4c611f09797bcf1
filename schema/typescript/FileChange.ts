// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * The change to one file of a patch, as the first protocol version shows it.
 */
export type FileChange = { "type": "add", 
/**
 * The whole new file.
 */
content: string, } | { "type": "delete", 
/**
 * The whole file as it was.
 */
content: string, } | { "type": "update", unified_diff: string, 
/**
 * The new path, if the file is also moved.
 */
move_path: string | null, };
