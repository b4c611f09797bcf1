// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What to tell the user about a model to use instead.
 */
export type ModelUpgradeInfo = { model: string, 
/**
 * A line for it; servers send null.
 */
upgradeCopy: string | null, 
/**
 * A page about it; servers send null.
 */
modelLink: string | null, 
/**
 * What changes for the user, in Markdown.
 */
migrationMarkdown: string | null, };
