// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What a hook wants the model to go on with.
 */
export type HookPromptFragment = { text: string, 
/**
 * The `id` of the hook's run.
 */
hookRunId: string, };
