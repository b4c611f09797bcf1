/** What a terminal would show of a command's output: colours become classes, everything else that it would obey is dropped. */

import { h } from "./dom.ts";

interface Style {
  classes: string[];
}

/** Escape sequences: CSI, OSC and other strings, then single characters; and control characters but tab and newline. */
// eslint-disable-next-line no-control-regex
const CONTROL =
  /\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|[\u202a-\u202e\u2066-\u2069]/g;
// eslint-disable-next-line no-control-regex
const INCOMPLETE = /\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]{0,4096})?$|\r$/;

/** Shows output as it comes. */
export class Terminal {
  readonly element: HTMLPreElement;
  #taken = 0;
  #held = "";
  #style: Style = { classes: [] };
  readonly #most: number;
  #shown = 0;

  /** @param most characters to keep; the oldest are dropped beyond it */
  constructor(label: string, most = 200_000) {
    this.element = h("pre", { class: "terminal", tabindex: "0", role: "region", "aria-label": label });
    this.#most = most;
  }

  /** Shows all of an output, of which a part may be shown already. */
  show(output: string): void {
    if (output.length < this.#taken) this.#reset();
    if (output.length === this.#taken) return;
    if (output.length - this.#taken > this.#most) this.#skip(output);
    const isAtEnd = this.element.scrollTop + this.element.clientHeight >= this.element.scrollHeight - 8;
    this.#add(output.slice(this.#taken));
    this.#taken = output.length;
    if (isAtEnd) this.element.scrollTop = this.element.scrollHeight;
  }

  #reset(): void {
    this.element.replaceChildren();
    this.#taken = this.#shown = 0;
    this.#held = "";
    this.#style = { classes: [] };
  }

  #skip(output: string): void {
    this.#reset();
    this.#taken = output.length - this.#most;
    this.element.append(h("span", { class: "dim" }, `… ${this.#taken} characters before this\n`));
  }

  #add(piece: string): void {
    let text = this.#held + piece;
    const rest = INCOMPLETE.exec(text)?.[0] ?? "";
    this.#held = rest;
    text = text.slice(0, text.length - rest.length).replaceAll(/\r+\n/g, "\n");
    let at = 0;
    for (const match of text.matchAll(CONTROL)) {
      this.#put(text.slice(at, match.index));
      at = match.index + match[0].length;
      if (match[0].startsWith("\x1b[") && match[0].endsWith("m")) this.#restyle(match[0].slice(2, -1));
    }
    this.#put(text.slice(at));
    while (this.#shown > this.#most && this.element.childNodes.length > 1) {
      this.#shown -= this.element.firstChild?.textContent?.length ?? 0;
      this.element.firstChild?.remove();
    }
  }

  /** A carriage return goes back to the start of the line, which what follows replaces, as progress bars do. */
  #put(text: string): void {
    text.split("\r").forEach((part, at) => {
      if (at > 0) this.#eraseLine();
      this.#append(part);
    });
  }

  #eraseLine(): void {
    for (let last = this.element.lastChild; last; last = this.element.lastChild) {
      const text = last.textContent ?? "";
      const kept = text.lastIndexOf("\n") + 1;
      this.#shown -= text.length - kept;
      if (kept > 0) return void (last.textContent = text.slice(0, kept));
      last.remove();
    }
  }

  #append(text: string): void {
    if (text === "") return;
    this.#shown += text.length;
    const { classes } = this.#style;
    this.element.append(classes.length > 0 ? h("span", { class: classes.join(" ") }, text) : text);
  }

  #restyle(codes: string): void {
    const numbers = codes.split(/[;:]/).map(Number);
    let { classes } = this.#style;
    const without = (...prefixes: string[]) =>
      classes.filter((it) => !prefixes.some((prefix) => it.startsWith(prefix)));
    for (let at = 0; at < numbers.length; at++) {
      const code = numbers[at] ?? 0;
      if (code === 0) classes = [];
      else if (code === 1) classes = [...without("t-bold"), "t-bold"];
      else if (code === 2) classes = [...without("t-dim"), "t-dim"];
      else if (code === 3) classes = [...without("t-italic"), "t-italic"];
      else if (code === 4) classes = [...without("t-under"), "t-under"];
      else if (code === 22) classes = without("t-bold", "t-dim");
      else if (code === 23) classes = without("t-italic");
      else if (code === 24) classes = without("t-under");
      else if (code >= 30 && code <= 37) classes = [...without("t-fg"), `t-fg${code - 30}`];
      else if (code >= 90 && code <= 97) classes = [...without("t-fg"), `t-fg${code - 82}`];
      else if (code === 39) classes = without("t-fg");
      else if (code === 38 || code === 48) {
        // 256 colours keep their first sixteen, others the default; true colours keep the default.
        const colour = numbers[at + 1] === 5 ? (numbers[at + 2] ?? 16) : 16;
        if (code === 38) classes = colour < 16 ? [...without("t-fg"), `t-fg${colour}`] : without("t-fg");
        at += numbers[at + 1] === 5 ? 2 : 4;
      }
    }
    this.#style = { classes };
  }
}
