// Weights as pixels.
import { SourceError } from '../../data/source';
import { type Lut, blueOrange, viridis } from '../../draw/colours';

/** Bytes of the atlas and of tiles are the root of a weight's share, so faint weights are visible and get more levels. */
export function weightOfByte(byte: number): number {
  return (byte / 255) ** 2;
}

export function byteOfWeight(weight: number): number {
  return Math.round(255 * Math.sqrt(Math.min(1, Math.max(0, weight))));
}

/** Of weights as bytes. Throws where the two are not of as many heads or tokens. */
export function changesOf(now: Uint8Array, then: Uint8Array): Float32Array {
  if (now.length !== then.length) throw new SourceError('failed precondition', 'The two do not have the same layers, heads and tokens: they cannot be compared.');
  return Float32Array.from(now, (byte, i) => weightOfByte(byte) - weightOfByte(then[i]!));
}

export function largestByte(bytes: Uint8Array): number {
  return bytes.reduce((most, byte) => Math.max(most, byte), 1);
}

const palettes = new Map<Lut, Uint32Array>();

/** A palette of 256 as pixels of an image, on the byte order of every machine that has a browser. */
function paletteOf(lut: Lut): Uint32Array {
  let palette = palettes.get(lut);
  if (!palette) {
    palette = Uint32Array.from({ length: 256 }, (_, i) => (255 << 24) | (lut[3 * i + 2]! << 16) | (lut[3 * i + 1]! << 8) | lut[3 * i]!);
    palettes.set(lut, palette);
  }
  return palette;
}

/** The pixels of an image, row 0 at the top as token 0 is. The byte `top` and larger ones have the brightest colour. */
export function pixelsOf(bytes: ArrayLike<number>, top = 255): Uint8ClampedArray<ArrayBuffer> {
  const palette = paletteOf(viridis());
  const pixels = new Uint32Array(bytes.length);
  const factor = 255 / Math.max(1, top);
  for (let i = 0; i < bytes.length; i++) pixels[i] = palette[Math.min(255, Math.round(bytes[i]! * factor))]!;
  return new Uint8ClampedArray(pixels.buffer);
}

/** The place of a signed number between blue (-limit), the neutral middle (0) and orange (limit), as a byte. */
export function byteOfSigned(value: number, limit: number): number {
  const share = limit > 0 ? Math.min(1, Math.max(-1, value / limit)) : 0;
  return Math.round(127.5 + 127.5 * share);
}

/** NaN and the infinities have colours of their own. */
const NAN = (255 << 24) | (0xb4 << 16) | (0x2f << 8) | 0xcc;

export function signedPixels(values: ArrayLike<number>, limit: number): Uint8ClampedArray<ArrayBuffer> {
  const palette = paletteOf(blueOrange());
  const pixels = new Uint32Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    pixels[i] = Number.isNaN(value) ? NAN : palette[byteOfSigned(value, limit)]!;
  }
  return new Uint8ClampedArray(pixels.buffer);
}

/** An image on a canvas of its own, to be drawn in any size; null where there are no canvases. */
export function imageOf(pixels: Uint8ClampedArray<ArrayBuffer>, width: number, height: number): HTMLCanvasElement | null {
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext('2d');
  if (!context || width === 0 || height === 0) return null;
  context.putImageData(new ImageData(pixels, width, height), 0, 0);
  return canvas;
}
