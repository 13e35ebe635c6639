// h(): elements in one expression. Children that are texts become text nodes, never markup.
import { shown } from '../data/text';

export type Child = Node | string | number | null | undefined | false;
export type Properties = Record<string, string | number | boolean | undefined | ((event: never) => void)>;

/** Properties: attributes by name (false and undefined leave one out), listeners as "onclick". */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return dressed(document.createElement(tag), properties, children);
}

/** Attributes that are read by people. */
const READ = /^(title|alt|placeholder|aria-label|aria-description|aria-valuetext)$/;

const SVG = 'http://www.w3.org/2000/svg';

export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return dressed(document.createElementNS(SVG, tag) as SVGElementTagNameMap[K], properties, children);
}

export function replace(parent: Element, ...children: Child[]): void {
  parent.replaceChildren(...nodesOf(children));
}

function dressed<E extends Element>(element: E, properties: Properties, children: Child[]): E {
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === 'function') element.addEventListener(name.replace(/^on/, ''), value as EventListener);
    else if (name === 'style') throw new Error('inline styles are refused by the content security policy; use a class');
    else if (value === true) element.setAttribute(name, '');
    else if (value !== undefined && value !== false) element.setAttribute(name, READ.test(name) ? shown(String(value)) : String(value));
  }
  element.append(...nodesOf(children));
  return element;
}

/** Texts are made safe to show on the way. */
function nodesOf(children: Child[]): (Node | string)[] {
  return children
    .filter((child): child is Node | string | number => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : shown(String(child))));
}
