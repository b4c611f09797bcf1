// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What a patch does to a file.
 */
export type PatchChangeKind = { "type": "add" } | { "type": "delete" } | { "type": "update", 
/**
 * The new absolute path, if the file is also moved.
 */
move_path: string | null, };
