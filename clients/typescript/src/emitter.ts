/**
 * Where the client's events come from: the `EventEmitter` of Node, Bun and Deno, or one of our own where
 * there is none, so that the package runs in browsers and imports nothing for it.
 */

import type { ClientEvents } from "./events.ts";

/** A listener of any event. */
export type AnyListener = (...args: never[]) => void;

/** The part of an `EventEmitter` that exists everywhere. */
class BasicEmitter {
  #listeners = new Map<string, { listener: AnyListener; once: boolean }[]>();

  on(event: string, listener: AnyListener): this {
    return this.#add(event, listener, false);
  }

  once(event: string, listener: AnyListener): this {
    return this.#add(event, listener, true);
  }

  off(event: string, listener: AnyListener): this {
    const entries = this.#listeners.get(event) ?? [];
    const at = entries.findLastIndex((entry) => entry.listener === listener);
    if (at >= 0) this.#listeners.set(event, entries.toSpliced(at, 1));
    return this;
  }

  addListener(event: string, listener: AnyListener): this {
    return this.on(event, listener);
  }

  removeListener(event: string, listener: AnyListener): this {
    return this.off(event, listener);
  }

  removeAllListeners(event?: string): this {
    if (event === undefined) this.#listeners.clear();
    else this.#listeners.delete(event);
    return this;
  }

  emit(event: string, ...args: unknown[]): boolean {
    const entries = this.#listeners.get(event) ?? [];
    for (const { listener, once } of entries) {
      if (once) this.off(event, listener);
      listener.apply(this, args as never[]);
    }
    return entries.length > 0;
  }

  listenerCount(event: string): number {
    return this.#listeners.get(event)?.length ?? 0;
  }

  eventNames(): string[] {
    return [...this.#listeners].filter(([, entries]) => entries.length > 0).map(([name]) => name);
  }

  #add(event: string, listener: AnyListener, once: boolean): this {
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), { listener, once }]);
    return this;
  }
}

interface Host {
  process?: { getBuiltinModule?: (id: string) => { EventEmitter: typeof BasicEmitter } | undefined };
}

/** An `EventEmitter` that knows its events and their arguments. */
export interface TypedEmitter<Events extends Record<keyof Events, unknown[]>> {
  /** Calls `listener` whenever the event happens. */
  on<E extends keyof Events>(event: E, listener: (...args: Events[E]) => void): this;
  /** Calls `listener` the next time the event happens. */
  once<E extends keyof Events>(event: E, listener: (...args: Events[E]) => void): this;
  /** Removes a listener. */
  off<E extends keyof Events>(event: E, listener: (...args: Events[E]) => void): this;
  /** The same as `on`. */
  addListener<E extends keyof Events>(event: E, listener: (...args: Events[E]) => void): this;
  /** The same as `off`. */
  removeListener<E extends keyof Events>(event: E, listener: (...args: Events[E]) => void): this;
  /** Removes all listeners, of one event or of all. */
  removeAllListeners(event?: keyof Events): this;
  /** Calls the listeners of an event; says whether there were any. */
  emit<E extends keyof Events>(event: E, ...args: Events[E]): boolean;
  /** How many listeners an event has. */
  listenerCount(event: keyof Events): number;
  /** The events that have listeners. */
  eventNames(): (string | symbol)[];
}

const Emitter = ((globalThis as Host).process?.getBuiltinModule?.("node:events")?.EventEmitter ??
  BasicEmitter) as unknown as new () => TypedEmitter<ClientEvents>;

/** The emitter that a client is. */
export class ClientEmitter extends Emitter {}
