// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `externalAgentConfig/detect`.
 */
export type ExternalAgentConfigDetectParams = { 
/**
 * Also looks in the user's home directory.
 */
includeHome?: boolean, 
/**
 * Directories whose repositories to look in.
 */
cwds?: Array<string> | null, };
