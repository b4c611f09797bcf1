// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ModelRerouteReason } from "./ModelRerouteReason";

/**
 * Parameters of the notification `model/rerouted`.
 */
export type ModelReroutedNotification = { threadId: string, turnId: string, fromModel: string, toModel: string, reason: ModelRerouteReason, };
