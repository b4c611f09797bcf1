/** Where the user writes: text, files by `@`, images by paste and drop. What is typed is kept until it is sent. */

import type { protocol, TurnInput } from "@quipu/client/websocket";

import { note } from "./dialog.ts";
import { fill, h } from "./dom.ts";
import { said } from "./format.ts";
import { store, stored } from "./storage.ts";

/** Images beyond this size are refused. */
const MOST_BYTES = 10 * 1024 * 1024;
/** How many files are offered. */
const OFFERED = 8;

/** What the composer needs of the page. */
export interface ComposerHost {
  /** Sends the input; whether it was accepted. */
  send(input: TurnInput[]): Promise<boolean>;
  findFiles(query: string): Promise<protocol.FuzzyFileSearchResult[]>;
  stop(): void;
}

/** A text field with attachments. */
export class Composer {
  readonly element: HTMLElement;
  readonly text: HTMLTextAreaElement;
  /** Where settings of the turn stand. */
  readonly options: HTMLElement = h("div", { class: "options" });
  readonly #host: ComposerHost;
  readonly #send = h("button", { class: "primary", type: "button", onclick: () => void this.#submit() }, "Send");
  readonly #stop = h("button", { type: "button", hidden: true, onclick: () => this.#host.stop() }, "Stop");
  readonly #images = h("div", { class: "images" });
  readonly #files = h("ul", { id: "files", class: "files", role: "listbox", "aria-label": "Files", hidden: true });
  #attached: string[] = [];
  #draft = "new";
  #found: protocol.FuzzyFileSearchResult[] = [];
  #picked = 0;
  #isSending = false;

  constructor(host: ComposerHost) {
    this.#host = host;
    this.text = h("textarea", {
      rows: "1",
      "aria-label": "Message",
      placeholder: "Message the agent. @ finds files, images can be pasted.",
      "aria-autocomplete": "list",
      "aria-haspopup": "listbox",
      "aria-controls": "files",
    });
    this.element = h(
      "div",
      { class: "composer" },
      this.#files,
      this.#images,
      this.text,
      h("div", { class: "composer-bar" }, this.options, this.#stop, this.#send),
    );
    this.#listen();
  }

  /** Shows the draft of a thread. */
  open(threadId: string): void {
    this.#draft = threadId;
    this.text.value = stored(`draft.${threadId}`, "");
    this.#attached = [];
    this.#close();
    this.#drawImages();
    this.#grow();
  }

  /** The thread of the draft exists now. */
  rename(threadId: string): void {
    store(`draft.${this.#draft}`, undefined);
    this.#draft = threadId;
    store(`draft.${threadId}`, this.text.value === "" ? undefined : this.text.value);
  }

  /** Puts a text before what is being written. */
  restore(text: string): void {
    this.text.value = [text, this.text.value].filter((it) => it !== "").join("\n");
    store(`draft.${this.#draft}`, this.text.value);
    this.#grow();
  }

  /** Says what sending does now: start a turn, or add to the one that runs. */
  setRunning(isRunning: boolean): void {
    this.#send.textContent = isRunning ? "Steer" : "Send";
    this.#stop.hidden = !isRunning;
  }

  /** Drops the draft if it is what was last sent, although the answer to it was lost. */
  settle(lastMessage: string): void {
    if (this.text.value !== "" && this.text.value.trim() === lastMessage.trim()) this.#clear();
  }

  #listen(): void {
    const { text } = this;
    text.addEventListener("input", () => {
      store(`draft.${this.#draft}`, text.value === "" ? undefined : text.value);
      this.#grow();
      void this.#complete();
    });
    text.addEventListener("keydown", (event) => this.#key(event));
    text.addEventListener("blur", () => setTimeout(() => this.#close(), 150));
    window.addEventListener("resize", () => this.#grow());
    text.addEventListener("paste", (event) => this.#take(event, event.clipboardData));
    this.element.addEventListener("dragover", (event) => event.preventDefault());
    this.element.addEventListener("drop", (event) => this.#take(event, event.dataTransfer));
  }

  #key(event: KeyboardEvent): void {
    if (!this.#files.hidden && this.#fileKey(event)) return event.preventDefault();
    const isSend = event.key === "Enter" && !event.shiftKey && !event.isComposing;
    if (isSend) {
      event.preventDefault();
      void this.#submit();
    } else if (event.key === "Escape") this.text.blur();
  }

  #fileKey({ key }: KeyboardEvent): boolean {
    const count = this.#found.length;
    if (key === "ArrowDown") this.#pick((this.#picked + 1) % count);
    else if (key === "ArrowUp") this.#pick((this.#picked + count - 1) % count);
    else if (key === "Enter" || key === "Tab") this.#insert(this.#found[this.#picked]);
    else if (key === "Escape") this.#close();
    else return false;
    return true;
  }

  async #submit(): Promise<void> {
    const text = this.text.value;
    if ((text.trim() === "" && this.#attached.length === 0) || this.#isSending) return;
    const input: TurnInput[] = [
      ...(text.trim() === "" ? [] : [{ type: "text" as const, text }]),
      ...this.#attached.map((url) => ({ type: "image" as const, url })),
    ];
    this.#isSending = true;
    this.#send.disabled = true;
    const isAccepted = await this.#host.send(input).finally(() => {
      this.#isSending = false;
      this.#send.disabled = false;
    });
    // Unless the user went on writing meanwhile.
    if (isAccepted && this.text.value === text) this.#clear();
  }

  #clear(): void {
    this.text.value = "";
    store(`draft.${this.#draft}`, undefined);
    this.#attached = [];
    this.#drawImages();
    this.#grow();
  }

  /** The field is as high as its text, within limits that the style sets. */
  #grow(): void {
    this.text.style.height = "auto";
    this.text.style.height = `${this.text.scrollHeight + 2}px`;
  }

  #take(event: Event, data: DataTransfer | null): void {
    const images = [...(data?.files ?? [])].filter((file) => file.type.startsWith("image/"));
    if (images.length === 0) return;
    event.preventDefault();
    for (const image of images) void this.attach(image);
  }

  /** Attaches an image. */
  async attach(image: File): Promise<void> {
    if (image.size > MOST_BYTES) return note(`${image.name} is over 10 MB`, "problem");
    const address = await new Promise<string>((resolve) => {
      const reader = new FileReader();
      reader.onload = () => resolve(String(reader.result));
      reader.readAsDataURL(image);
    });
    this.#attached.push(address);
    this.#drawImages();
  }

  #drawImages(): void {
    const remove = (at: number) => {
      this.#attached.splice(at, 1);
      this.#drawImages();
    };
    fill(
      this.#images,
      ...this.#attached.map((src, at) =>
        h(
          "span",
          { class: "thumb" },
          h("img", { src, alt: `Attached image ${at + 1}` }),
          h(
            "button",
            { type: "button", class: "quiet small", "aria-label": `Remove image ${at + 1}`, onclick: () => remove(at) },
            "✕",
          ),
        ),
      ),
    );
  }

  /** The word with `@` before the cursor, if there is one. */
  #word(): string | undefined {
    const before = this.text.value.slice(0, this.text.selectionStart);
    return /(?:^|\s)@([^\s@]+)$/.exec(before)?.[1];
  }

  async #complete(): Promise<void> {
    const word = this.#word();
    if (word === undefined) return this.#close();
    try {
      const found = await this.#host.findFiles(word);
      if (this.#word() !== word) return;
      this.#found = found.slice(0, OFFERED);
    } catch (error) {
      return note(said(error), "problem");
    }
    if (this.#found.length === 0) return this.#close();
    this.#pick(0);
  }

  #pick(at: number): void {
    this.#picked = at;
    const options = this.#found.map((file, index) =>
      h(
        "li",
        {
          id: `file-${index}`,
          role: "option",
          "aria-selected": String(index === at),
          onmousedown: (event: Event) => (event.preventDefault(), this.#insert(file)),
        },
        file.path,
      ),
    );
    fill(this.#files, ...options);
    this.#files.hidden = false;
    this.text.setAttribute("aria-activedescendant", `file-${at}`);
  }

  #insert(file: protocol.FuzzyFileSearchResult | undefined): void {
    const word = this.#word();
    if (!file || word === undefined) return this.#close();
    const { value, selectionStart } = this.text;
    const path = /\s/.test(file.path) ? `"${file.path}"` : file.path;
    const before = `${value.slice(0, selectionStart - word.length - 1)}${path} `;
    this.text.value = before + value.slice(selectionStart);
    this.text.setSelectionRange(before.length, before.length);
    store(`draft.${this.#draft}`, this.text.value);
    this.#close();
  }

  #close(): void {
    this.#files.hidden = true;
    this.text.removeAttribute("aria-activedescendant");
  }
}
