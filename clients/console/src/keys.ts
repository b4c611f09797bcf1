/** Keys that work everywhere but where text is written. */

import { dialog } from "./dialog.ts";
import { h } from "./dom.ts";

/** What a key does, and what the help says of it. */
export type Keys = Record<string, [text: string, run: () => void]>;

/** Listens for keys; `?` shows them. */
export function listen(keys: Keys): void {
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    const isTyping = target.matches("input, textarea, select") || target.closest("dialog") !== null;
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const action = event.key === "?" ? () => void help(keys) : keys[event.key]?.[1];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

/** Shows all keys. */
export function help(keys: Keys): Promise<unknown> {
  const rows = [
    ...Object.entries(keys),
    ["Enter", ["Send"]],
    ["Shift+Enter", ["New line"]],
    ["@", ["Find a file"]],
    ["Esc", ["Leave the text field"]],
    ["?", ["These keys"]],
  ] as [string, [string]][];
  return dialog("Keys", (close) => [
    h("dl", { class: "keys" }, ...rows.flatMap(([key, [text]]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)])),
    h("div", { class: "buttons" }, h("button", { type: "button", autofocus: true, onclick: () => close() }, "Close")),
  ]);
}
