// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * An absolute path, with `.` and `..` resolved and links kept.
 */
export type AbsolutePathBuf = string;
