// Raster: draws thousands of straight links from the left edge to the right one, faster than a canvas strokes lines.
// Works column by column: in each column a link is a short vertical run, so that its ends and width cost nothing.

export interface RasterLink {
  /** Where it begins at the left edge and ends at the right one, in pixels of the picture. */
  from: number;
  to: number;
  width: number;
  opacity: number;
}

/** On and off lengths in pixels; empty: a line without gaps. */
export type Dash = readonly number[];

export class Raster {
  private readonly light: Float32Array; // the share of the ground that still shines through, column after column
  private readonly pixels: Uint8ClampedArray;

  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    this.light = new Float32Array(width * height).fill(1);
    this.pixels = new Uint8ClampedArray(width * height * 4);
  }

  /** Links of the layer that is drawn now. */
  add(link: RasterLink, dash: Dash = []): void {
    const { width, height } = this;
    const slope = (link.to - link.from) / width;
    const thick = Math.max(link.width, 1) * Math.sqrt(1 + slope * slope);
    const opacity = link.opacity * Math.min(1, link.width); // a line thinner than a pixel is a fainter one
    const [begin, end] = this.columnsOf(link, slope, thick);
    const period = dash.reduce((a, b) => a + b, 0);
    for (let x = begin; x < end; x++) {
      if (period > 0 && isGap(dash, x % period)) continue;
      const middle = link.from + slope * (x + 0.5);
      this.addRun(x * height, Math.max(0, middle - thick / 2), Math.min(height, middle + thick / 2), opacity);
    }
  }

  /** Puts the layer's links over what is there already, in a colour of 0 to 255, and begins a new layer. */
  flush(red: number, green: number, blue: number): void {
    const { width, height, light, pixels } = this;
    for (let x = 0; x < width; x++) {
      for (let y = 0; y < height; y++) {
        const through = light[x * height + y]!;
        if (through === 1) continue;
        light[x * height + y] = 1;
        const at = 4 * (y * width + x);
        const over = 1 - through;
        const under = (pixels[at + 3]! / 255) * through;
        const alpha = over + under;
        pixels[at] = (red * over + pixels[at]! * under) / alpha;
        pixels[at + 1] = (green * over + pixels[at + 1]! * under) / alpha;
        pixels[at + 2] = (blue * over + pixels[at + 2]! * under) / alpha;
        pixels[at + 3] = 255 * alpha;
      }
    }
  }

  toImage(): ImageData {
    return new ImageData(this.pixels as Uint8ClampedArray<ArrayBuffer>, this.width, this.height);
  }

  /** The opacity at a pixel, 0 to 255. */
  alphaAt(x: number, y: number): number {
    return this.pixels[4 * (y * this.width + x) + 3]!;
  }

  clear(): void {
    this.pixels.fill(0);
  }

  /** Covers a column from `top` to `bottom`; its ends may be inside a pixel. */
  private addRun(column: number, top: number, bottom: number, opacity: number): void {
    if (bottom <= top) return;
    const { light } = this;
    const first = column + Math.floor(top);
    const last = column + Math.ceil(bottom) - 1;
    if (first === last) {
      light[first]! *= 1 - opacity * (bottom - top);
      return;
    }
    light[first]! *= 1 - opacity * (Math.floor(top) + 1 - top);
    for (let at = first + 1; at < last; at++) light[at]! *= 1 - opacity;
    light[last]! *= 1 - opacity * (bottom - Math.ceil(bottom) + 1);
  }

  /** The columns in which the link is within the picture. */
  private columnsOf(link: RasterLink, slope: number, thick: number): [number, number] {
    const { width, height } = this;
    const reach = thick / 2;
    if (slope === 0) return link.from + reach < 0 || link.from - reach > height ? [0, 0] : [0, width];
    const atTop = (-reach - link.from) / slope;
    const atBottom = (height + reach - link.from) / slope;
    const begin = Math.max(0, Math.floor(Math.min(atTop, atBottom)));
    return [begin, Math.min(width, Math.ceil(Math.max(atTop, atBottom)))];
  }
}

function isGap(dash: Dash, place: number): boolean {
  let end = 0;
  for (let i = 0; i < dash.length; i++) {
    end += dash[i]!;
    if (place < end) return i % 2 === 1;
  }
  return false;
}
