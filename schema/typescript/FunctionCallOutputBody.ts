// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { FunctionCallOutputContentItem } from "./FunctionCallOutputContentItem";

/**
 * What a tool returned.
 */
export type FunctionCallOutputBody = string | Array<FunctionCallOutputContentItem>;
