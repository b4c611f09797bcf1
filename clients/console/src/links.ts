/** Addresses in what a model or a file says. Only some lead anywhere, and none is loaded by itself. */

import { h } from "./dom.ts";

const SCHEMES = ["http:", "https:", "mailto:"];

/** A link with its address, or plain text if the address is not allowed. */
export function link(target: string, ...children: (Node | string)[]): HTMLElement {
  const url = parsed(target);
  if (!url) return h("span", { class: "dead-link", title: `not a link: ${target}` }, ...children);
  const shown = children.map((it) => (typeof it === "string" ? it : it.textContent)).join("");
  const where = url.protocol === "mailto:" ? url.pathname : url.host;
  // A text that looks like another address is how people are led astray.
  const isHonest = shown.includes(where);
  return h(
    "span",
    {},
    h("a", { href: url.href, target: "_blank", rel: "noopener noreferrer nofollow", title: url.href }, ...children),
    !isHonest && h("span", { class: "link-host" }, ` (${where})`),
  );
}

/** Whether a text is an address that a link may lead to. */
export function parsed(target: string): URL | undefined {
  try {
    const url = new URL(target.trim());
    return SCHEMES.includes(url.protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}

/** An image whose bytes are in its address, as it is loaded from nowhere; others become links. */
export function image(source: string, label: string): HTMLElement {
  if (/^data:image\/(png|jpeg|gif|webp|avif|svg\+xml);base64,[A-Za-z0-9+/=]*$/.test(source)) {
    return h("img", { class: "image", src: source, alt: label, loading: "lazy" });
  }
  return link(source, label || source);
}
