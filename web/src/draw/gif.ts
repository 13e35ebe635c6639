// GIF: pictures one after another as a file that everything plays. Written by hand: browsers only read it.
//
// Each picture has a palette of its own of up to 255 colours, and holds only the rectangle that differs from the
// picture before it; what is the same within it is transparent. Source of the format: GIF89a, CompuServe 1990.
import { type Palette, paletteOf } from './gif_palette';
import { lzw } from './lzw';

/** More than that no page would want to play. */
export const MOST_GIF_BYTES = 64 << 20;

const TRANSPARENT = 255;

interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
}

export class GifWriter {
  private readonly parts: Uint8Array[] = [];
  private bytes = 0;
  private last: Uint32Array | null = null;

  constructor(readonly width: number, readonly height: number) {
    this.put(text('GIF89a'), words(width, height), Uint8Array.of(0x70, 0, 0));
    this.put(Uint8Array.of(0x21, 0xff, 11), text('NETSCAPE2.0'), Uint8Array.of(3, 1, 0, 0, 0)); // again and again
  }

  /** `pixels`: red, green, blue, alpha of each, row by row; alpha is not looked at. Shown for about `delayMs`. */
  add(pixels: Uint8ClampedArray, delayMs: number): void {
    const picture = new Uint32Array(pixels.buffer.slice(pixels.byteOffset, pixels.byteOffset + pixels.byteLength));
    if (picture.length !== this.width * this.height) throw new Error('each picture of a film has the same size');
    const part = this.changed(picture);
    const palette = paletteOf(this.cut(picture, part));
    this.putControl(Math.round(delayMs / 10));
    this.putImage(part, palette, this.indices(picture, part, palette));
    this.last = picture;
  }

  finish(): Blob {
    return new Blob([...this.parts, Uint8Array.of(0x3b)] as BlobPart[], { type: 'image/gif' });
  }

  /** The smallest rectangle with all that differs; of the first picture all of it. */
  private changed(picture: Uint32Array): Rectangle {
    const { last, width, height } = this;
    if (!last) return { x: 0, y: 0, width, height };
    let [left, right, top, bottom] = [width, -1, height, -1];
    for (let y = 0, i = 0; y < height; y++) {
      for (let x = 0; x < width; x++, i++) {
        if (picture[i] === last[i]) continue;
        if (x < left) left = x;
        if (x > right) right = x;
        if (y < top) top = y;
        bottom = y;
      }
    }
    if (right < 0) return { x: 0, y: 0, width: 1, height: 1 };
    return { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
  }

  private cut(picture: Uint32Array, { x, y, width, height }: Rectangle): Uint32Array {
    const cut = new Uint32Array(width * height);
    for (let row = 0; row < height; row++) {
      const from = (y + row) * this.width + x;
      cut.set(picture.subarray(from, from + width), row * width);
    }
    return cut;
  }

  private indices(picture: Uint32Array, part: Rectangle, palette: Palette): Uint8Array {
    const { last } = this;
    const indices = new Uint8Array(part.width * part.height);
    for (let row = 0, to = 0; row < part.height; row++) {
      for (let from = (part.y + row) * this.width + part.x, end = from + part.width; from < end; from++) {
        indices[to++] = last && last[from] === picture[from] ? TRANSPARENT : palette.indexOf(picture[from]!);
      }
    }
    return indices;
  }

  private putControl(hundredths: number): void {
    const keepsAndIsTransparent = 0x05;
    this.put(Uint8Array.of(0x21, 0xf9, 4, keepsAndIsTransparent), words(hundredths), Uint8Array.of(TRANSPARENT, 0));
  }

  private putImage({ x, y, width, height }: Rectangle, palette: Palette, indices: Uint8Array): void {
    this.put(Uint8Array.of(0x2c), words(x, y, width, height), Uint8Array.of(0x87), palette.colours, Uint8Array.of(8));
    const data = lzw(indices, 8);
    for (let at = 0; at < data.length; at += 255) {
      const block = data.subarray(at, at + 255);
      this.put(Uint8Array.of(block.length), block);
    }
    this.put(Uint8Array.of(0));
  }

  private put(...parts: Uint8Array[]): void {
    this.parts.push(...parts);
    this.bytes += parts.reduce((sum, part) => sum + part.length, 0);
    if (this.bytes > MOST_GIF_BYTES) throw new Error('the film is larger than 64 MiB: choose fewer steps');
  }
}

function text(characters: string): Uint8Array {
  return Uint8Array.from(characters, (character) => character.charCodeAt(0));
}

/** Of 16 bits, the low byte first. */
function words(...values: number[]): Uint8Array {
  return Uint8Array.from(values.flatMap((value) => [value & 255, value >> 8]));
}
