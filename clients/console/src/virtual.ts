/** A long list of which only the part in view exists. Heights are measured, and guessed until then. */

import { h, perFrame } from "./dom.ts";

/** What is shown of a row. */
export interface RowView {
  readonly element: HTMLElement;
  /** Brings the element up to date. */
  update(): void;
}

/** A row: what it is, and how high it probably is. */
export interface Row {
  readonly key: string;
  readonly guess: number;
  /** Makes what is shown of it. */
  view(): RowView;
}

/** How far beyond the view rows are made, in pixels. */
const OVERSCAN = 600;
/** Closer to the end than this, the list stays at its end. */
const NEAR = 48;

/** A list in an element that scrolls. */
export class VirtualList {
  readonly element: HTMLElement;
  readonly #above = h("div", { "aria-hidden": "true" });
  readonly #below = h("div", { "aria-hidden": "true" });
  #rows: readonly Row[] = [];
  #heights = new Map<string, number>();
  #offsets: number[] = [0];
  #shown = new Map<string, RowView>();
  #dirty = new Set<string>();
  #isAtEnd = true;
  #top = 0;
  #width = 0;
  readonly #observer: ResizeObserver;
  readonly #schedule = perFrame(() => this.#layout());

  constructor(label: string) {
    this.element = h("div", { class: "transcript", tabindex: "0", role: "feed", "aria-label": label });
    this.element.append(this.#above, this.#below);
    this.element.addEventListener("scroll", () => {
      const { scrollTop, clientHeight, scrollHeight } = this.element;
      // Only who goes up leaves the end; a list that grows, or a view that shrinks, does not.
      if (scrollTop + clientHeight >= scrollHeight - NEAR) this.#isAtEnd = true;
      else if (scrollTop < this.#top - 1) this.#isAtEnd = false;
      this.#top = scrollTop;
      this.#schedule();
    });
    this.#observer = new ResizeObserver(() => this.#schedule());
    this.#observer.observe(this.element);
  }

  /** Whether the end is in view. */
  get isAtEnd(): boolean {
    return this.#isAtEnd;
  }

  /** How many rows exist as elements. */
  get made(): number {
    return this.#shown.size;
  }

  /** Sets the rows; those that are shown and still there are kept. */
  setRows(rows: readonly Row[]): void {
    this.#rows = rows;
    this.#schedule();
  }

  /** A row changed. */
  touch(key: string): void {
    this.#dirty.add(key);
    this.#schedule();
  }

  /** Forgets everything, for another list in the same place. */
  reset(): void {
    for (const { element } of this.#shown.values()) this.#drop(element);
    this.#shown.clear();
    this.#heights.clear();
    this.#rows = [];
    this.#isAtEnd = true;
    this.#schedule();
  }

  /** Scrolls to the end and stays there. */
  toEnd(): void {
    this.#isAtEnd = true;
    this.#schedule();
  }

  #drop(element: HTMLElement): void {
    this.#observer.unobserve(element);
    element.remove();
  }

  #measureOffsets(): void {
    const offsets = new Array<number>(this.#rows.length + 1);
    let sum = 0;
    this.#rows.forEach((row, at) => {
      offsets[at] = sum;
      sum += this.#heights.get(row.key) ?? row.guess;
    });
    offsets[this.#rows.length] = sum;
    this.#offsets = offsets;
  }

  /** The row at a position. */
  #at(position: number): number {
    let [low, high] = [0, this.#rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#offsets[middle + 1] ?? Infinity) <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #layout(): void {
    const { element } = this;
    if (!element.isConnected) return;
    if (element.clientWidth !== this.#width) {
      this.#width = element.clientWidth;
      this.#heights.clear();
    }
    this.#updateShown();
    // What was just made may be higher or lower than guessed, and then other rows are in view.
    for (let round = 0; round < 4; round++) if (!this.#place()) break;
  }

  #updateShown(): void {
    for (const key of this.#dirty) this.#shown.get(key)?.update();
    this.#dirty.clear();
  }

  /** Makes the rows in view and measures them; whether any height was a surprise. */
  #place(): boolean {
    const { element } = this;
    this.#measureOffsets();
    const total = this.#offsets.at(-1) ?? 0;
    const height = element.clientHeight;
    const top = this.#isAtEnd ? Math.max(0, total - height) : element.scrollTop;
    const anchor = this.#at(top);
    const within = top - (this.#offsets[anchor] ?? 0);
    const [from, to] = [this.#at(top - OVERSCAN), this.#at(top + height + OVERSCAN)];
    this.#make(from, this.#rows.slice(from, to + 1));
    this.#above.style.height = `${this.#offsets[from] ?? 0}px`;
    this.#below.style.height = `${total - (this.#offsets[Math.min(to + 1, this.#rows.length)] ?? total)}px`;
    const isSurprised = this.#measure(from, to);
    if (isSurprised) {
      this.#measureOffsets();
      this.#above.style.height = `${this.#offsets[from] ?? 0}px`;
    }
    const wanted = this.#isAtEnd ? element.scrollHeight : (this.#offsets[anchor] ?? 0) + within;
    if (this.#isAtEnd || (isSurprised && Math.abs(element.scrollTop - wanted) > 1)) {
      element.scrollTop = wanted;
      // A person may scroll up before the event of this move arrives, and then there is only one event for both.
      this.#top = element.scrollTop;
    }
    return isSurprised;
  }

  #make(from: number, rows: readonly Row[]): void {
    const wanted = new Set(rows.map((row) => row.key));
    for (const [key, view] of this.#shown) {
      if (wanted.has(key)) continue;
      if (view.element.contains(document.activeElement)) this.element.focus({ preventScroll: true });
      this.#drop(view.element);
      this.#shown.delete(key);
    }
    let before: Element = this.#above;
    rows.forEach((row, at) => {
      let view = this.#shown.get(row.key);
      if (!view) {
        view = row.view();
        view.element.setAttribute("role", "article");
        view.update();
        this.#shown.set(row.key, view);
        this.#observer.observe(view.element);
      }
      view.element.setAttribute("aria-posinset", String(from + at + 1));
      view.element.setAttribute("aria-setsize", String(this.#rows.length));
      if (before.nextElementSibling !== view.element) before.after(view.element);
      before = view.element;
    });
  }

  #measure(from: number, to: number): boolean {
    let isSurprised = false;
    for (const row of this.#rows.slice(from, to + 1)) {
      const height = this.#shown.get(row.key)?.element.getBoundingClientRect().height ?? 0;
      if (height === 0 || Math.abs((this.#heights.get(row.key) ?? row.guess) - height) < 0.5) continue;
      this.#heights.set(row.key, height);
      isSurprised = true;
    }
    return isSurprised;
  }
}
