/** The console: gets a token, connects, and shows the page. */

import { App } from "./app.ts";
import { fill, h } from "./dom.ts";
import { said } from "./format.ts";
import { Session } from "./session.ts";
import { applyTheme, store, stored } from "./storage.ts";
import { admitted, type Settings } from "./token.ts";

const place = document.querySelector("#app") ?? document.body;

async function start(): Promise<void> {
  applyTheme();
  let settings: Settings;
  try {
    settings = await admitted();
  } catch (error) {
    return failed(error);
  }
  const token = stored("token", "");
  if (settings.needsToken && token === "") return askToken(settings, "");
  return open(settings, token);
}

async function open(settings: Settings, token: string): Promise<void> {
  const session = new Session(settings.needsToken ? token : undefined);
  try {
    await session.connect();
  } catch (error) {
    await session.client.disconnect();
    return settings.needsToken ? askToken(settings, said(error)) : failed(error);
  }
  const app = new App(session, settings);
  fill(place, app.element);
  app.start();
}

/** Servers that have their own tokens get them from the user. */
function askToken(settings: Settings, problem: string): void {
  const input = h("input", {
    type: "password",
    "aria-label": "Token",
    autocomplete: "off",
    required: true,
    autofocus: true,
  });
  const form = h(
    "form",
    { class: "sign-in" },
    h("h1", {}, "Quipu"),
    h(
      "p",
      {},
      "This server needs a token: the one that it was started with, or open the address that `quipu console` prints.",
    ),
    problem !== "" &&
      h("p", { class: "problem", role: "alert" }, `The token was not accepted, or the server is gone: ${problem}`),
    input,
    h("button", { class: "primary" }, "Connect"),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    store("token", input.value.trim());
    void open(settings, input.value.trim());
  });
  fill(place, h("main", {}, form));
}

function failed(error: unknown): void {
  const again = h("button", { type: "button", class: "primary", onclick: () => location.reload() }, "Try again");
  fill(
    place,
    h(
      "main",
      { class: "sign-in" },
      h("h1", {}, "Quipu"),
      h("p", { class: "problem", role: "alert" }, said(error)),
      again,
    ),
  );
}

void start();
