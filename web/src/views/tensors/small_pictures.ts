// SmallPictures: the pictures of a strip in colours, painted once and again only when their scale has moved.
import { blueOrange, type Lut, paint, viridis } from '../../draw/colours';

export const PALETTES = ['gray', 'viridis', 'signed'] as const;
export type Palette = (typeof PALETTES)[number];
export type PictureRange = [low: number, high: number];

/** One step's pictures: all rows. */
export interface PictureColumn {
  step: number;
  rows: number;
  height: number;
  width: number;
  fullHeight: number;
  fullWidth: number;
  pixels: Uint8Array; // rows x height x width
  low: Float64Array;
  high: Float64Array;
  nan: Float64Array;
  inf: Float64Array;
}

interface Painted {
  canvas: HTMLCanvasElement;
  /** What it was painted for. */
  key: string;
}

let grayLut: Lut | null = null;
function gray(): Lut {
  grayLut ??= Uint8Array.from({ length: 768 }, (_, i) => Math.floor(i / 3));
  return grayLut;
}

const LUTS: Record<Palette, () => Lut> = { gray, viridis, signed: blueOrange };

/** From a picture's own scale to the one that is drawn: the place in [0, 1] of each of its 256 pixels. NaN stays NaN. */
export function levels(low: number, high: number, range: PictureRange | null): Float64Array {
  return Float64Array.from({ length: 256 }, (_, pixel) => {
    if (pixel === 0 || !range) return NaN;
    const value = low + ((pixel - 1) / 254) * (high - low);
    return range[1] === range[0] ? 0.5 : (value - range[0]) / (range[1] - range[0]);
  });
}

export class SmallPictures {
  /** Goes with its column. */
  private readonly painted = new WeakMap<PictureColumn, (Painted | undefined)[]>();

  of(column: PictureColumn, row: number, range: PictureRange | null, palette: Palette): HTMLCanvasElement {
    const key = `${palette} ${range?.join(' ') ?? ''}`;
    const known = this.painted.get(column) ?? [];
    this.painted.set(column, known);
    const before = known[row];
    if (before?.key === key) return before.canvas;
    const canvas = before?.canvas ?? document.createElement('canvas');
    paintSmall(canvas, column, row, levels(column.low[row]!, column.high[row]!, range), LUTS[palette]());
    known[row] = { canvas, key };
    return canvas;
  }
}

function paintSmall(canvas: HTMLCanvasElement, { width, height, pixels }: PictureColumn, row: number, places: Float64Array, lut: Lut): void {
  canvas.width = width;
  canvas.height = height;
  const bytes = new Uint8ClampedArray(4 * 256);
  places.forEach((place, pixel) => paint(lut, place, bytes, 4 * pixel));
  const colours = new Uint32Array(bytes.buffer);
  const image = new ImageData(width, height);
  const words = new Uint32Array(image.data.buffer);
  const first = row * width * height;
  for (let i = 0; i < words.length; ++i) words[i] = colours[pixels[first + i]!]!;
  canvas.getContext('2d')?.putImageData(image, 0, 0);
}
