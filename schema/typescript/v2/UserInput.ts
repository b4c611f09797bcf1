// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { TextElement } from "./TextElement";

/**
 * One piece of what the user says.
 */
export type UserInput = { "type": "text", text: string, 
/**
 * Parts that the client shows in its own way; kept and given back, nothing more.
 */
text_elements: Array<TextElement>, } | { "type": "image", 
/**
 * An `http`, `https` or `data` URL.
 */
url: string, } | { "type": "localImage", path: string, } | { "type": "skill", name: string, 
/**
 * The path of its `SKILL.md`.
 */
path: string, } | { "type": "mention", name: string, 
/**
 * `app://<id>` or `plugin://<name>@<marketplace>`.
 */
path: string, };
