/** A queue between the connection and a reader who may be slow: bounded, and read by `for await`. */

/** How much may wait to be read. */
export interface FeedLimits {
  /** Events: 8192 if not given. */
  events: number;
  /** Characters of JSON: 64 Mi if not given. */
  characters: number;
}

/** The limits if none are given. */
export const FEED_LIMITS: FeedLimits = { events: 8192, characters: 64 * 1024 * 1024 };

interface Waiting<T> {
  resolve(result: IteratorResult<T, undefined>): void;
  reject(error: Error): void;
}

/** Values for one reader. When too many wait, the oldest are dropped and the reader is notified. */
export class Feed<T> implements AsyncIterableIterator<T, undefined> {
  #values: { value: T; size: number }[] = [];
  /** The first value that is not read yet; what is before it is gone. */
  #head = 0;
  #size = 0;
  #missed = 0;
  #ended = false;
  #error: Error | undefined;
  #waiting: Waiting<T>[] = [];
  readonly #limits: FeedLimits;
  readonly #lagged: (missed: number) => T;
  readonly #left: () => void;

  /**
   * @param lagged makes the value that says how many are missing
   * @param left is called when the reader stops before the end
   */
  constructor(limits: FeedLimits, lagged: (missed: number) => T, left: () => void) {
    this.#limits = limits;
    this.#lagged = lagged;
    this.#left = left;
  }

  /** Adds a value. */
  push(value: T, size: number): void {
    if (this.#ended) return;
    const reader = this.#waiting.shift();
    if (reader) return reader.resolve({ done: false, value });
    this.#values.push({ value, size });
    this.#size += size;
    while (this.#length > this.#limits.events || (this.#size > this.#limits.characters && this.#length > 1)) {
      this.#shift();
      this.#missed += 1;
    }
  }

  /** Nothing follows. With an error, the reader gets it after the values that wait. */
  end(error?: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    const [first, ...others] = this.#waiting.splice(0);
    if (first) this.#finish(first);
    for (const reader of others) reader.resolve({ done: true, value: undefined });
  }

  /** How many values wait. */
  get length(): number {
    return this.#length;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#missed > 0) {
      const value = this.#lagged(this.#missed);
      this.#missed = 0;
      return Promise.resolve({ done: false, value });
    }
    if (this.#length > 0) return Promise.resolve({ done: false, value: this.#shift() });
    return new Promise((resolve, reject) => {
      const reader = { resolve, reject };
      if (this.#ended) this.#finish(reader);
      else this.#waiting.push(reader);
    });
  }

  return(): Promise<IteratorResult<T, undefined>> {
    if (!this.#ended) {
      this.end();
      this.#left();
    }
    this.#values = [];
    this.#head = this.#size = this.#missed = 0;
    this.#error = undefined;
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  get #length(): number {
    return this.#values.length - this.#head;
  }

  #shift(): T {
    const entry = this.#values[this.#head] as { value: T; size: number };
    this.#head += 1;
    this.#size -= entry.size;
    if (this.#head > 1024 && this.#head * 2 > this.#values.length) {
      this.#values = this.#values.slice(this.#head);
      this.#head = 0;
    }
    return entry.value;
  }

  /** The end, for the first who asks for it; the error is given once. */
  #finish(reader: Waiting<T>): void {
    const error = this.#error;
    this.#error = undefined;
    if (error) reader.reject(error);
    else reader.resolve({ done: true, value: undefined });
  }
}
