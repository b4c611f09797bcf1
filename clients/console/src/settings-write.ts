/** Writes one setting of the user's file, and takes it back if threads could no longer be started with it. */

import type { protocol } from "@quipu/client/websocket";

import { said } from "./format.ts";
import type { Session } from "./session.ts";

type Client = Session["client"];

/** Writes a value; null removes the key. Returns what the user should know besides. Throws if nothing is changed. */
export async function writeSetting(client: Client, keyPath: string, value: protocol.JsonValue): Promise<string> {
  // Who repairs a configuration step by step must be able to write while it is still broken.
  const wasUnusable = (await unusable(client)) !== undefined;
  const before = wasUnusable ? null : await userValue(client, keyPath);
  const written = await client.configValueWrite({ keyPath, value, mergeStrategy: "replace" });
  const isUnusable = await unusable(client);
  if (isUnusable !== undefined && !wasUnusable) {
    const expectedVersion = written.version;
    await client.configValueWrite({ keyPath, value: before, mergeStrategy: "replace", expectedVersion });
    throw new Error(`${keyPath} is not changed: ${isUnusable}`);
  }
  const notes = [written.overriddenMetadata?.message, isUnusable && `Threads cannot be started: ${isUnusable}`];
  return notes.filter((it) => it).join(" ");
}

/** Why no thread can be started with the configuration as it is: names that lead nowhere pass the check of a write. */
async function unusable(client: Client): Promise<string | undefined> {
  try {
    await client.modelProviderCapabilitiesRead({});
    return undefined;
  } catch (error) {
    return said(error);
  }
}

/** The value that the user's file has for a key. */
async function userValue(client: Client, keyPath: string): Promise<protocol.JsonValue> {
  const { layers } = await client.configRead({ includeLayers: true, cwd: null });
  const user = layers?.find(({ name }) => name.type === "user");
  return valueAt(user?.config ?? null, keyPath);
}

/** The value at a dotted path, whose parts may be quoted; null if it is absent. */
function valueAt(config: protocol.JsonValue, keyPath: string): protocol.JsonValue {
  let value: protocol.JsonValue | undefined = config;
  for (const [, quoted, plain] of keyPath.matchAll(/"((?:[^"\\]|\\.)*)"|([^."]+)/g)) {
    const key = quoted === undefined ? plain : (JSON.parse(`"${quoted}"`) as string);
    if (key === undefined || typeof value !== "object" || value === null || Array.isArray(value)) return null;
    value = Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return value ?? null;
}
