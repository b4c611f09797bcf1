// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AbsolutePathBuf } from "./AbsolutePathBuf";

/**
 * Result of `initialize`.
 */
export type InitializeResponse = { 
/**
 * How the server presents itself to model providers.
 */
userAgent: string, 
/**
 * The directory that holds configuration, accounts and threads.
 */
codexHome: AbsolutePathBuf, 
/**
 * `unix` or `windows`.
 */
platformFamily: string, 
/**
 * The system, such as `linux`, `macos` or `windows`.
 */
platformOs: string, };
