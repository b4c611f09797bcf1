// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `fuzzyFileSearch`.
 */
export type FuzzyFileSearchParams = { 
/**
 * Words that must all match; case counts only if there is a capital. Empty finds nothing.
 */
query: string, 
/**
 * Directories to search; hidden files are found, files that Git ignores are not.
 */
roots: Array<string>, 
/**
 * A newer search with the same token makes this one needless.
 */
cancellationToken: string | null, };
