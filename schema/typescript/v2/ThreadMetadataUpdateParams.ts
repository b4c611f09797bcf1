// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ThreadMetadataGitInfoUpdateParams } from "./ThreadMetadataGitInfoUpdateParams";

/**
 * Parameters of `thread/metadata/update`.
 */
export type ThreadMetadataUpdateParams = { threadId: string, gitInfo?: ThreadMetadataGitInfoUpdateParams | null, };
