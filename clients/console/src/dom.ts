/** Elements made by hand. Text is always text: nothing here, and nothing else in the page, parses markup. */

type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, unknown>;

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes, listeners (`onclick`) and children. `false`, `null` and `undefined` are left out. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Child | Child[])[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  apply(element, attributes);
  element.append(...present(children));
  return element;
}

/** The same for drawings. */
export function svg(tag: string, attributes: Attributes = {}, ...children: (Child | Child[])[]): SVGElement {
  const element = document.createElementNS(SVG, tag);
  apply(element, attributes);
  element.append(...present(children));
  return element;
}

/** Replaces what an element contains. */
export function fill(element: Element, ...children: (Child | Child[])[]): void {
  element.replaceChildren(...present(children));
}

/** Replaces what an element contains; the focus stays on the part that is called the same. */
export function refill(element: Element, ...children: (Child | Child[])[]): void {
  const name = (it: Element | null) => it?.getAttribute("aria-label") ?? it?.textContent;
  const focused = element.contains(document.activeElement) ? name(document.activeElement) : undefined;
  fill(element, ...children);
  if (focused === undefined) return;
  const parts = element.querySelectorAll<HTMLElement>("button, select, input, a");
  [...parts].find((it) => name(it) === focused)?.focus();
}

/** Sets text only if it changed, so that selections and screen readers are left alone. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Adds a listener to the next frame, once for many calls. */
export function perFrame(work: () => void): () => void {
  let isAsked = false;
  return () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      work();
    });
  };
}

function apply(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else if (name === "value") (element as HTMLInputElement).value = String(value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

function present(children: (Child | Child[])[]): (Node | string)[] {
  return children
    .flat()
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child)));
}
