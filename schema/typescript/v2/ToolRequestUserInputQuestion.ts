// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ToolRequestUserInputOption } from "./ToolRequestUserInputOption";

/**
 * A question to the user.
 */
export type ToolRequestUserInputQuestion = { 
/**
 * The key under which the answer is given.
 */
id: string, 
/**
 * A title of a few words.
 */
header: string, question: string, 
/**
 * Whether the user may also write an answer of their own.
 */
isOther: boolean, 
/**
 * Whether the answer must not be shown while it is typed.
 */
isSecret: boolean, 
/**
 * The answers to offer; null asks for free text.
 */
options: Array<ToolRequestUserInputOption> | null, };
