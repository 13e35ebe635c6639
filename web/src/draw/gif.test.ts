import { describe, expect, it } from 'vitest';

import { GifWriter } from './gif';
import { lzw } from './lzw';

/** By the book: as a reader of GIF does it. */
function unlzw(data: Uint8Array, bits: number): number[] {
  const [clear, end] = [1 << bits, (1 << bits) + 1];
  const out: number[] = [];
  let [table, width, at, held, count]: [number[][], number, number, number, number] = [[], bits + 1, 0, 0, 0];
  let before: number[] | null = null;
  for (;;) {
    while (count < width) {
      held |= data[at++]! << count;
      count += 8;
    }
    const code = held & ((1 << width) - 1);
    held >>>= width;
    count -= width;
    if (code === end) return out;
    if (code === clear) {
      table = Array.from({ length: end + 1 }, (_, i) => [i]);
      [width, before] = [bits + 1, null];
      continue;
    }
    const entry: number[] = table[code] ?? [...before!, before![0]!];
    if (before && table.length < 4096) table.push([...before, entry[0]!]);
    if (table.length === 1 << width && width < 12) width++;
    out.push(...entry);
    before = entry;
  }
}

interface Frame {
  x: number;
  y: number;
  width: number;
  height: number;
  delay: number;
  colours: Uint8Array;
  indices: number[];
}

/** The pictures of a file that GifWriter wrote. */
function framesOf(bytes: Uint8Array): Frame[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const frames: Frame[] = [];
  let at = 13 + 19;
  while (bytes[at] !== 0x3b) {
    const delay = view.getUint16(at + 4, true);
    at += 8;
    const [x, y, width, height] = [1, 3, 5, 7].map((place) => view.getUint16(at + place, true)) as [number, number, number, number];
    const colours = bytes.slice(at + 10, at + 10 + 768);
    at += 10 + 768 + 1;
    const data: number[] = [];
    for (; bytes[at]! > 0; at += bytes[at]! + 1) data.push(...bytes.subarray(at + 1, at + 1 + bytes[at]!));
    at++;
    frames.push({ x, y, width, height, delay, colours, indices: unlzw(Uint8Array.from(data), 8) });
  }
  return frames;
}

/** What a reader shows after each picture, red, green and blue of each pixel. */
function shownBy(bytes: Uint8Array, width: number, height: number): number[][] {
  const screen = Array<number>(3 * width * height).fill(0);
  return framesOf(bytes).map((frame) => {
    frame.indices.forEach((index, i) => {
      if (index === 255) return;
      const place = (frame.y + Math.floor(i / frame.width)) * width + frame.x + (i % frame.width);
      for (let channel = 0; channel < 3; channel++) screen[3 * place + channel] = frame.colours[3 * index + channel]!;
    });
    return [...screen];
  });
}

async function bytesOf(writer: GifWriter): Promise<Uint8Array> {
  return new Uint8Array(await writer.finish().arrayBuffer());
}

describe('lzw', () => {
  it('is read back as it was, also beyond 4,096 codes', () => {
    for (const length of [1, 2, 255, 256, 257, 3839, 3840, 3841, 60_000]) {
      let state = length;
      const values = Uint8Array.from({ length }, (_, i) => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return i % 7 < 4 ? i & 3 : state >>> 24;
      });
      expect(unlzw(lzw(values, 8), 8)).toEqual([...values]);
    }
  });

  it('makes what is even small', () => {
    expect(lzw(new Uint8Array(100_000), 8).length).toBeLessThan(1200);
  });
});

describe('GifWriter', () => {
  const [width, height] = [6, 4];
  const plain = (red: number, green: number, blue: number): Uint8ClampedArray =>
    Uint8ClampedArray.from({ length: 4 * width * height }, (_, i) => [red, green, blue, 255][i % 4]!);

  it('shows each picture with its very colours, where they are few', async () => {
    const writer = new GifWriter(width, height);
    const second = plain(255, 255, 255);
    second.set([10, 200, 30, 255], 4 * (2 * width + 3));
    writer.add(plain(255, 255, 255), 250);
    writer.add(second, 250);
    writer.add(plain(7, 7, 7), 250);
    const bytes = await bytesOf(writer);
    expect(new TextDecoder().decode(bytes.subarray(0, 6))).toBe('GIF89a');
    const shown = shownBy(bytes, width, height);
    const wanted = [plain(255, 255, 255), second, plain(7, 7, 7)].map((picture) => [...picture].filter((_, i) => i % 4 < 3));
    expect(shown).toEqual(wanted);
    expect(framesOf(bytes).map(({ x, y, width: w, height: h, delay }) => [x, y, w, h, delay])).toEqual(
      [[0, 0, 6, 4, 25], [3, 2, 1, 1, 25], [0, 0, 6, 4, 25]]); // only what has changed
  });

  it('has the nearest of 255 colours, where they are many', async () => {
    const side = 64;
    const writer = new GifWriter(side, side);
    const many = Uint8ClampedArray.from({ length: 4 * side * side }, (_, i) => {
      const [x, y] = [(i >> 2) % side, Math.floor((i >> 2) / side)];
      return [4 * x, 4 * y, 2 * (x + y), 255][i % 4]!;
    });
    writer.add(many, 100);
    const [shown] = shownBy(await bytesOf(writer), side, side);
    const wanted = [...many].filter((_, i) => i % 4 < 3);
    const off = wanted.reduce((most, value, i) => Math.max(most, Math.abs(value - shown![i]!)), 0);
    expect(off).toBeLessThan(24);
  });

  it('refuses pictures of another size', () => {
    expect(() => new GifWriter(2, 2).add(plain(0, 0, 0), 100)).toThrow('same size');
  });
});
