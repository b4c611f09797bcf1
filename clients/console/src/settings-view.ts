/** The page's own choices, the account, MCP servers, and the effective configuration with its origins. */

import type { protocol } from "@quipu/client/websocket";

import { note } from "./dialog.ts";
import { fill, h } from "./dom.ts";
import { json, said } from "./format.ts";
import type { Models } from "./models.ts";
import type { Session } from "./session.ts";
import { writeSetting } from "./settings-write.ts";
import { choices, choose, type Choices, type Prices } from "./storage.ts";

/** Settings. */
export class SettingsView {
  readonly element: HTMLElement;
  readonly #session: Session;
  readonly #models: Models;
  readonly #own = h("div", {});
  readonly #account = h("p", {});
  readonly #servers = h("div", {});
  readonly #rows = h("tbody", {});
  readonly #layers = h("ol", { class: "layers" });
  readonly #filter = h("input", {
    type: "search",
    "aria-label": "Filter the configuration",
    placeholder: "Filter keys and values",
  });
  #entries: [key: string, value: unknown, origin: string][] = [];

  constructor(session: Session, models: Models) {
    this.#session = session;
    this.#models = models;
    this.#filter.addEventListener("input", () => this.#drawRows());
    const head = h(
      "tr",
      {},
      h("th", { scope: "col" }, "Key"),
      h("th", { scope: "col" }, "Value"),
      h("th", { scope: "col" }, "From"),
    );
    this.element = h(
      "section",
      { class: "page", "aria-labelledby": "settings-title", tabindex: "-1" },
      h("h1", { id: "settings-title" }, "Settings"),
      this.#own,
      h("h2", {}, "Account"),
      this.#account,
      h("h2", {}, "MCP servers"),
      this.#servers,
      h("h2", {}, "Configuration"),
      this.#editor(),
      this.#filter,
      h(
        "div",
        { class: "table", tabindex: "0", role: "region", "aria-label": "Effective configuration" },
        h("table", {}, h("thead", {}, head), this.#rows),
      ),
      h("h2", {}, "Layers, the strongest first"),
      this.#layers,
    );
  }

  /** Loads everything again. */
  async show(cwd: string | undefined): Promise<void> {
    this.#drawOwn();
    const { client } = this.#session;
    const problem = (place: Element) => (error: unknown) => fill(place, h("span", { class: "problem" }, said(error)));
    await Promise.all([
      client
        .accountRead({})
        .then((it) => this.#drawAccount(it))
        .catch(problem(this.#account)),
      client
        .mcpServerStatusList({})
        .then((it) => this.#drawServers(it))
        .catch(problem(this.#servers)),
      client
        .configRead({ includeLayers: true, cwd: cwd ?? null })
        .then((it) => this.#drawConfig(it))
        .catch(problem(this.#layers)),
    ]);
  }

  #drawOwn(): void {
    const { theme, diff, prices } = choices();
    const pick = <K extends "theme" | "diff">(key: K, label: string, values: Choices[K][], now: Choices[K]) => {
      const select = h("select", {}, ...values.map((it) => h("option", { value: it, selected: it === now }, it)));
      select.addEventListener("change", () => choose({ [key]: select.value as Choices[K] }));
      return h("label", { class: "field" }, label, select);
    };
    const models = [...new Set([...this.#models.all.map(({ model }) => model), ...Object.keys(prices)])];
    const head = h(
      "tr",
      {},
      ...["Model", "Input", "Cached input", "Output"].map((it) => h("th", { scope: "col" }, it)),
    );
    fill(
      this.#own,
      h("h2", {}, "This page"),
      pick("theme", "Colours", ["system", "light", "dark"], theme),
      pick("diff", "Diffs", ["unified", "split"], diff),
      h("h2", {}, "Prices"),
      h(
        "p",
        { class: "dim" },
        "Dollars for a million tokens. Usage is shown as cost by the prices that the server knows, else by these, which are kept in this browser.",
      ),
      h(
        "div",
        { class: "table", tabindex: "0", role: "region", "aria-label": "Prices" },
        h("table", {}, h("thead", {}, head), h("tbody", {}, ...models.map((model) => priceRow(model, prices[model])))),
      ),
    );
  }

  #drawAccount({ account, requiresOpenaiAuth }: protocol.GetAccountResponse): void {
    const text =
      account === null
        ? requiresOpenaiAuth
          ? "Not logged in. Run `quipu login`."
          : "The model provider needs no login here."
        : account.type === "chatgpt"
          ? `ChatGPT: ${account.email} (${account.planType})`
          : "An API key";
    fill(this.#account, text);
  }

  #drawServers({ data }: protocol.ListMcpServerStatusResponse): void {
    if (data.length === 0) return fill(this.#servers, h("p", { class: "dim" }, "None is configured."));
    const rows = data.map(({ name, tools, authStatus }) =>
      h("li", {}, h("strong", {}, name), ` · ${Object.keys(tools).length} tools · ${authStatus}`),
    );
    return fill(this.#servers, h("ul", {}, ...rows));
  }

  #drawConfig({ config, origins, layers }: protocol.ConfigReadResponse): void {
    this.#entries = flat(config as Record<string, unknown>).map(([key, value]) => [
      key,
      value,
      originOf(origins[key]?.name),
    ]);
    this.#drawRows();
    const one = ({ name, config: own, disabledReason }: protocol.ConfigLayer) =>
      h(
        "li",
        {},
        h(
          "details",
          {},
          h("summary", {}, originOf(name), disabledReason && ` (does not count: ${disabledReason})`),
          h("pre", { class: "plain", tabindex: "0", role: "region", "aria-label": originOf(name) }, json(own)),
        ),
      );
    fill(this.#layers, ...(layers ?? []).map(one));
  }

  #drawRows(): void {
    const term = this.#filter.value.trim().toLowerCase();
    const found = this.#entries.filter((entry) => entry.join(" ").toLowerCase().includes(term));
    fill(
      this.#rows,
      ...found.map(([key, value, origin]) =>
        h(
          "tr",
          {},
          h("td", {}, h("code", {}, key)),
          h("td", {}, h("code", {}, json(value))),
          h("td", { class: "dim" }, origin),
        ),
      ),
    );
  }

  /** Sets one key of the user's file. */
  #editor(): HTMLElement {
    const key = h("input", { type: "text", "aria-label": "Key", placeholder: "key, such as model", required: true });
    const value = h("input", {
      type: "text",
      "aria-label": "Value as JSON or text; empty removes the key",
      placeholder: "value (JSON or text); empty removes it",
    });
    const element = h("form", { class: "inline-form" }, key, value, h("button", {}, "Set in config.toml"));
    element.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#write(key.value.trim(), value.value.trim());
    });
    return element;
  }

  async #write(keyPath: string, text: string): Promise<void> {
    try {
      const more = await writeSetting(this.#session.client, keyPath, parsed(text));
      note(`${keyPath} is written. ${more}`.trim());
      await this.show(undefined);
    } catch (error) {
      note(said(error), "problem");
    }
  }
}

function parsed(text: string): protocol.JsonValue {
  if (text === "") return null;
  try {
    return JSON.parse(text) as protocol.JsonValue;
  } catch {
    return text;
  }
}

function priceRow(model: string, prices: Prices | undefined): HTMLElement {
  const now: Prices = prices ?? { input: 0, cached: 0, output: 0 };
  const cell = (kind: keyof Prices) => {
    const input = h("input", {
      type: "number",
      min: "0",
      step: "any",
      value: prices ? now[kind] : "",
      "aria-label": `${kind} price of ${model}`,
    });
    input.addEventListener("change", () => {
      now[kind] = Number(input.value);
      choose({ prices: { ...choices().prices, [model]: now } });
    });
    return h("td", {}, input);
  };
  return h("tr", {}, h("th", { scope: "row" }, model), cell("input"), cell("cached"), cell("output"));
}

/** Single values by dotted path. */
function flat(value: Record<string, unknown>, prefix = ""): [string, unknown][] {
  return Object.entries(value).flatMap(([name, inner]): [string, unknown][] => {
    const key = prefix + name;
    const isTable = typeof inner === "object" && inner !== null && !Array.isArray(inner);
    if (isTable) return flat(inner as Record<string, unknown>, `${key}.`);
    return inner === null ? [] : [[key, inner]];
  });
}

function originOf(source: protocol.ConfigLayerSource | undefined): string {
  if (!source) return "default";
  switch (source.type) {
    case "mdm":
      return `device management (${source.domain})`;
    case "system":
    case "user":
    case "legacyManagedConfigTomlFromFile":
      return source.file;
    case "project":
      return source.dotCodexFolder;
    case "sessionFlags":
      return "command line";
    default:
      return source.type;
  }
}
