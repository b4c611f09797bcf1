// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * The answer to one question.
 */
export type ToolRequestUserInputAnswer = { 
/**
 * The labels that were picked and the text that was written.
 */
answers: Array<string>, };
