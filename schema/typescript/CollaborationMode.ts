// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ModeKind } from "./ModeKind";
import type { Settings } from "./Settings";

/**
 * A way of working together, with its settings.
 */
export type CollaborationMode = { mode: ModeKind, settings: Settings, };
