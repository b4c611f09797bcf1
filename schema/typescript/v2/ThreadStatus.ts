// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ThreadActiveFlag } from "./ThreadActiveFlag";

/**
 * What a thread is doing.
 */
export type ThreadStatus = { "type": "notLoaded" } | { "type": "idle" } | { "type": "systemError" } | { "type": "active", 
/**
 * Empty if it waits for nobody.
 */
activeFlags: Array<ThreadActiveFlag>, };
