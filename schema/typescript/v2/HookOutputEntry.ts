// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { HookOutputEntryKind } from "./HookOutputEntryKind";

/**
 * Something that a hook had to say.
 */
export type HookOutputEntry = { kind: HookOutputEntryKind, text: string, };
