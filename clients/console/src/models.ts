/** The models that can be chosen. */

import type { ModelInfo } from "@quipu/client/websocket";

import type { Session } from "./session.ts";
import { Topic } from "./topic.ts";

/** No list is longer. */
const PAGES = 20;

/** Loaded once for each connection. */
export class Models {
  all: ModelInfo[] = [];
  readonly changed: Topic = new Topic();

  async load({ client }: Session): Promise<void> {
    const all: ModelInfo[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < PAGES; page++) {
      const { data, nextCursor } = await client.listModels({ cursor });
      all.push(...data);
      cursor = nextCursor ?? null;
      if (cursor === null) break;
    }
    this.all = all;
    this.changed.emit();
  }
}
