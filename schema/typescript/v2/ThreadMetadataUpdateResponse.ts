// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { Thread } from "./Thread";

/**
 * Result of `thread/metadata/update`.
 */
export type ThreadMetadataUpdateResponse = { thread: Thread, };
