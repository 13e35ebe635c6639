// A drawing as a list of shapes, made without a document: shown as an SVG element on the page, written as an SVG file.
import { h, s } from '../../draw/dom';
import { SvgWriter } from '../../draw/svg';

export type Shape =
  | { kind: 'rect'; x: number; y: number; width: number; height: number; fill: string; hatched?: boolean; title?: string }
  | { kind: 'path'; d: string; fill?: string; stroke?: string; width?: number; dash?: string; hatched?: boolean; opacity?: number; title?: string }
  | { kind: 'text'; x: number; y: number; text: string; fill: string; anchor?: 'start' | 'middle' | 'end'; bold?: boolean; size?: number };

export interface Drawing {
  width: number;
  height: number;
  /** In words. */
  title: string;
  shapes: Shape[];
}

let hatches = 0; // a pattern is found by its id, which must be one in the document

/** Two decimals are a fiftieth of a pixel. */
export function px(value: number): string {
  return String(Math.round(value * 100) / 100);
}

function hatch(id: string, colour: string): SVGElement {
  return s('pattern', { id, width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' }, s('rect', { width: 2.5, height: 6, fill: colour }));
}

/** `ground` is what shows between the lines of a hatched shape. */
export function svgOf(drawing: Drawing, ground: string, properties: Record<string, string> = {}): SVGSVGElement {
  const id = `hatch${++hatches}`;
  const needsHatch = drawing.shapes.some((shape) => shape.kind !== 'text' && shape.hatched);
  return s('svg', { width: drawing.width, height: drawing.height, viewBox: `0 0 ${px(drawing.width)} ${px(drawing.height)}`, role: 'img', 'aria-label': drawing.title, ...properties },
    needsHatch && s('defs', {}, hatch(id, ground)),
    ...drawing.shapes.flatMap((shape) => elementsOf(shape, `url(#${id})`)));
}

function elementsOf(shape: Shape, hatchUrl: string): SVGElement[] {
  if (shape.kind === 'text') {
    return [s('text', { x: px(shape.x), y: px(shape.y), fill: shape.fill, 'text-anchor': shape.anchor, 'font-weight': shape.bold ? 600 : undefined, 'font-size': shape.size ?? 12 }, shape.text)];
  }
  const title = shape.title === undefined ? undefined : s('title', {}, shape.title);
  if (shape.kind === 'rect') {
    const box = { x: px(shape.x), y: px(shape.y), width: px(Math.max(0, shape.width)), height: px(Math.max(0, shape.height)) };
    return [s('rect', { ...box, fill: shape.fill }, title), ...(shape.hatched ? [s('rect', { ...box, fill: hatchUrl, opacity: 0.55, 'pointer-events': 'none' })] : [])];
  }
  const path = s('path', { d: shape.d, fill: shape.fill ?? 'none', stroke: shape.stroke, 'stroke-width': shape.width, 'stroke-dasharray': shape.dash, 'stroke-linejoin': 'round', opacity: shape.opacity }, title);
  return [path, ...(shape.hatched ? [s('path', { d: shape.d, fill: hatchUrl, opacity: 0.55, 'pointer-events': 'none' })] : [])];
}

/** On white, with a hatched shape as its colour half as strong: files have no patterns. */
export function fileOf(drawing: Drawing): SvgWriter {
  const svg = new SvgWriter(drawing.width, drawing.height, drawing.title);
  svg.add('rect', { x: 0, y: 0, width: drawing.width, height: drawing.height, fill: '#ffffff' });
  for (const shape of drawing.shapes) {
    if (shape.kind === 'text') svg.text(shape.x, shape.y, shape.text, { fill: shape.fill, 'text-anchor': shape.anchor, 'font-weight': shape.bold ? 600 : undefined, 'font-size': shape.size ?? 12 });
    else if (shape.kind === 'rect') svg.add('rect', { x: shape.x, y: shape.y, width: Math.max(0, shape.width), height: Math.max(0, shape.height), fill: shape.fill, 'fill-opacity': shape.hatched ? 0.5 : undefined });
    else svg.add('path', { d: shape.d, fill: shape.fill ?? 'none', stroke: shape.stroke, 'stroke-width': shape.width, 'stroke-dasharray': shape.dash, opacity: shape.hatched ? 0.5 : shape.opacity });
  }
  return svg;
}

/** A small square of a colour, for legends. */
export function swatch(colour: string, hatched: boolean, ground: string): SVGSVGElement {
  return svgOf({ width: 12, height: 12, title: '', shapes: [{ kind: 'rect', x: 0, y: 0, width: 12, height: 12, fill: colour, hatched }] }, ground, { 'aria-hidden': 'true', class: 'swatch' });
}

/** Part of the view with its heading. */
export function part(id: string, title: string, ...content: (Node | string | null | undefined | false)[]): HTMLElement {
  return h('section', { class: 'panel time-part', 'data-part': id, 'aria-label': title }, h('h2', {}, title), ...content);
}
