// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 *  A command prefix to allow from now on, word by word.
 */
export type ExecPolicyAmendment = Array<string>;
