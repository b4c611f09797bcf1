// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * One child of a directory; links count as what they point to.
 */
export type FsReadDirectoryEntry = { 
/**
 * The name without the directory.
 */
fileName: string, isDirectory: boolean, isFile: boolean, };
