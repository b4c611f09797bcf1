/** Bytes in any pieces become lines of text. */

/** A longer line is discarded: as long as the longest message that a server takes. */
export const LINE_LIMIT = 256 * 1024 * 1024;

/** Splits a stream of UTF-8 into lines, wherever the pieces end. */
export class LineSplitter {
  #decoder = new TextDecoder();
  /** The beginning of a line. */
  #rest = "";
  #tooLong = false;
  readonly #line: (line: string) => void;
  readonly #dropped: (length: number) => void;
  readonly #limit: number;

  /**
   * @param line is called with each line, without its end
   * @param dropped is called for each line over the limit, in its place
   */
  constructor(line: (line: string) => void, dropped: (limit: number) => void, limit: number = LINE_LIMIT) {
    this.#line = line;
    this.#dropped = dropped;
    this.#limit = limit;
  }

  /** Takes the next piece. */
  push(piece: Uint8Array): void {
    this.#take(this.#decoder.decode(piece, { stream: true }));
  }

  /** Ends the stream; what follows the last line break is a line too. */
  end(): void {
    this.#take(this.#decoder.decode());
    if (this.#rest !== "" || this.#tooLong) this.#take("\n");
  }

  #take(text: string): void {
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      this.#finish(text.slice(start, end));
      start = end + 1;
    }
    if (start < text.length && !this.#tooLong) {
      this.#rest += start === 0 ? text : text.slice(start);
      if (this.#rest.length > this.#limit) {
        this.#rest = "";
        this.#tooLong = true;
      }
    }
  }

  #finish(end: string): void {
    const line = this.#rest === "" ? end : this.#rest + end;
    const tooLong = this.#tooLong || line.length > this.#limit;
    this.#rest = "";
    this.#tooLong = false;
    if (tooLong) this.#dropped(this.#limit);
    else this.#line(line.endsWith("\r") ? line.slice(0, -1) : line);
  }
}
