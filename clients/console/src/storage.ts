/** What the browser keeps for this page: the token, drafts, choices, counts of tokens. Losing it loses no work. */

const PREFIX = "quipu.";

/** A stored value, or the default if there is none or it cannot be read. */
export function stored<T>(key: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(PREFIX + key);
    return text === null ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise;
  }
}

/** Stores a value; `undefined` removes it. A full storage is not worth an error. */
export function store(key: string, value: unknown): void {
  try {
    if (value === undefined) localStorage.removeItem(PREFIX + key);
    else localStorage.setItem(PREFIX + key, JSON.stringify(value));
  } catch {
    // Private windows and full disks refuse; the page works without.
  }
}

/** The prices of a model in dollars for a million tokens. */
export interface Prices {
  input: number;
  cached: number;
  output: number;
}

/** What the user chose about the page itself. */
export interface Choices {
  theme: "system" | "light" | "dark";
  diff: "unified" | "split";
  prices: Record<string, Prices>;
}

const CHOICES: Choices = { theme: "system", diff: "unified", prices: {} };

export function choices(): Choices {
  return { ...CHOICES, ...stored<Partial<Choices>>("choices", {}) };
}

export function choose(change: Partial<Choices>): void {
  store("choices", { ...choices(), ...change });
  applyTheme();
}

/** Sets the colours; without a choice the system's are used. */
export function applyTheme(): void {
  const { theme } = choices();
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}
