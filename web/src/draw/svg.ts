// SvgWriter: an SVG document as a text, for files. What is on the page is made by dom.ts.
import { shown } from '../data/text';

export type Attributes = Record<string, string | number | undefined>;

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escaped(text: string): string {
  return shown(text).replace(/[&<>"']/g, (c) => ESCAPES[c]!);
}

/** Two decimals are a fiftieth of a pixel. */
function written(value: string | number): string {
  return typeof value === 'number' ? String(Math.round(value * 100) / 100) : escaped(value);
}

function attributesOf(attributes: Attributes): string {
  return Object.entries(attributes)
    .filter((entry): entry is [string, string | number] => entry[1] !== undefined)
    .map(([name, value]) => ` ${name}="${written(value)}"`)
    .join('');
}

export class SvgWriter {
  private readonly parts: string[] = [];

  /** `title` is the picture in words. */
  constructor(
    readonly width: number,
    readonly height: number,
    private readonly title: string,
  ) {}

  add(tag: string, attributes: Attributes): this {
    this.parts.push(`<${tag}${attributesOf(attributes)}/>`);
    return this;
  }

  text(x: number, y: number, text: string, attributes: Attributes = {}): this {
    this.parts.push(`<text${attributesOf({ x, y, ...attributes })}>${escaped(text)}</text>`);
    return this;
  }

  /** Everything that `fill` adds is in one <g>. */
  group(attributes: Attributes, fill: () => void): this {
    this.parts.push(`<g${attributesOf(attributes)}>`);
    fill();
    this.parts.push('</g>');
    return this;
  }

  /** A picture of pixels within the drawing; `address` is a data: URL. */
  image(address: string, x: number, y: number, width: number, height: number): this {
    this.parts.push(`<image${attributesOf({ x, y, width, height })} href="${escaped(address)}"/>`);
    return this;
  }

  toString(): string {
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${written(this.width)}" height="${written(this.height)}" ` +
      `viewBox="0 0 ${written(this.width)} ${written(this.height)}" role="img" font-family="system-ui, sans-serif" font-size="12">` +
      `<title>${escaped(this.title)}</title>${this.parts.join('')}</svg>\n`
    );
  }

  toBlob(): Blob {
    return new Blob([this.toString()], { type: 'image/svg+xml' });
  }
}
