/** How the page gets the token of its server: by a code in the address that is good once, or from the user. */

import { store, stored } from "./storage.ts";

/** What the server says of itself before anybody is admitted. */
export interface Settings {
  needsToken: boolean;
  hasRunners: boolean;
}

/** Asks for a part of the page that is data. Addresses are relative, so that a proxy may put the page anywhere. */
export async function ask(path: string, method = "GET", headers: Record<string, string> = {}): Promise<unknown> {
  const token = stored<string>("token", "");
  const auth: Record<string, string> = token === "" ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(`console/${path}`, { method, headers: { ...auth, ...headers } });
  const body = (await response.json()) as { error?: string };
  if (!response.ok) throw new Error(body.error ?? `the server answered ${response.status}`);
  return body;
}

/** The server's settings, after a code in the address was exchanged for a token. */
export async function admitted(): Promise<Settings> {
  const code = /^#code=([0-9a-f]+)$/.exec(location.hash)?.[1];
  if (code !== undefined) {
    // It is void after this; it need not stay in the history.
    history.replaceState(null, "", location.pathname);
    try {
      const { token } = (await ask("session", "POST", { "x-quipu-code": code })) as { token: string };
      store("token", token);
    } catch (error) {
      // An address that was opened before still works where the token is known.
      if (stored("token", "") === "") throw error;
    }
  }
  return (await ask("settings")) as Settings;
}

/** Where the websocket is: beside the page. */
export function socketUrl(): string {
  const url = new URL(".", location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.hash = url.search = "";
  return url.href;
}
