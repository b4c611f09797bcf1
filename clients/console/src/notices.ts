/** What a server says besides threads and turns. */

import type { AnyNotification, protocol } from "@quipu/client/websocket";

/** A notification as a sentence for the user, if it is one. */
export function notice({ method, params }: AnyNotification): string | undefined {
  switch (method) {
    case "configWarning":
    case "deprecationNotice": {
      const { summary, details } = params as protocol.DeprecationNoticeNotification;
      return details === null ? summary : `${summary}: ${details}`;
    }
    case "model/rerouted": {
      const { fromModel, toModel, reason } = params as protocol.ModelReroutedNotification;
      return `The provider answers with ${toModel} in place of ${fromModel} (${reason}).`;
    }
    case "mcpServer/startupStatus/updated": {
      const { name, status, error } = params as protocol.McpServerStatusUpdatedNotification;
      return status === "failed" ? `The MCP server ${name} did not start: ${error ?? "no reason is known"}` : undefined;
    }
    default:
      return undefined;
  }
}
