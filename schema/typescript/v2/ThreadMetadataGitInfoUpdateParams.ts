// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Changes to what is stored about Git: absent keeps, null clears, a string replaces. One is
 * needed.
 */
export type ThreadMetadataGitInfoUpdateParams = { sha?: string | null, branch?: string | null, originUrl?: string | null, };
