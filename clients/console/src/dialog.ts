/** Small windows that ask something. */

import { h } from "./dom.ts";

/** Shows a window until it is answered; resolves with what `close` was given, or `undefined`. */
export function dialog<T>(title: string, make: (close: (value?: T) => void) => Node[]): Promise<T | undefined> {
  return new Promise((resolve) => {
    let answer: T | undefined;
    const close = (value?: T) => {
      answer = value;
      element.close();
    };
    const heading = h("h2", { id: "dialog-title" }, title);
    const element = h("dialog", { "aria-labelledby": "dialog-title" }, heading, ...make(close));
    element.addEventListener("close", () => {
      element.remove();
      resolve(answer);
    });
    document.body.append(element);
    element.showModal();
  });
}

/** Asks yes or no. */
export async function confirmed(title: string, text: string, action: string): Promise<boolean> {
  const answer = await dialog<boolean>(title, (close) => [
    h("p", {}, text),
    h(
      "div",
      { class: "buttons" },
      h("button", { type: "button", class: "primary", onclick: () => close(true) }, action),
      h("button", { type: "button", onclick: () => close() }, "Cancel"),
    ),
  ]);
  return answer === true;
}

/** Asks for a line of text. */
export function asked(title: string, label: string, value = ""): Promise<string | undefined> {
  return dialog<string>(title, (close) => {
    const input = h("input", { type: "text", value, autofocus: true, "aria-label": label });
    const form = h(
      "form",
      { method: "dialog" },
      input,
      h(
        "div",
        { class: "buttons" },
        h("button", { class: "primary" }, "OK"),
        h("button", { type: "button", onclick: () => close() }, "Cancel"),
      ),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      close(input.value);
    });
    return [form];
  });
}

/** A note that goes away by itself; it is read aloud. */
export function note(text: string, kind: "info" | "problem" = "info"): void {
  const place = document.querySelector("#notes");
  const element = h(
    "div",
    { class: `note ${kind}` },
    text,
    h(
      "button",
      { type: "button", class: "quiet small", "aria-label": "Dismiss", onclick: () => element.remove() },
      "✕",
    ),
  );
  place?.append(element);
  setTimeout(() => element.remove(), kind === "problem" ? 15_000 : 5000);
}
