/** Something that changes, and those who want to know. */

/** Listeners of one kind of change. */
export class Topic<A extends unknown[] = []> {
  readonly #listeners = new Set<(...args: A) => void>();

  /** Adds a listener; the result removes it. */
  on(listener: (...args: A) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(...args: A): void {
    for (const listener of [...this.#listeners]) listener(...args);
  }
}
