// What differs between what is seen and what was seen: parts, and the ink of pictures. Fonts may differ, views may not.
import type { Part, Seen, SeenPicture } from './seen';

const SHIFT = 0.05; // of the page's width: how far a picture may lie elsewhere
const RESIZE = 0.12; // of a picture's own size
const LEAST_PIXELS = 10;
const LEAST_ALIKE = 0.75; // the correlation of two pictures' ink
const MOST_INK = 1.7; // one has at most so many times as much ink as the other
const MOST_COLOUR = 40; // of 255

/** Headings alone are told apart by their words; what is drawn, by its size. */
const PICTURES = new Set(['canvas', 'svg']);

export interface Tolerance {
  page: number;
  /** Parts flow into columns, whose lengths follow from the font. */
  flows: boolean;
}

/** In words; empty: it looks as it did. */
export function differences(now: Seen, before: Seen, tolerance: Tolerance): string[] {
  const found = [...now.faults];
  const names = (seen: Seen) => seen.parts.map(({ name }) => name);
  if (names(now).join('\n') !== names(before).join('\n')) found.push(partsInWords(names(now), names(before)));
  else now.parts.forEach((part, i) => found.push(...shifts(part, before.parts[i]!, tolerance)));
  if (now.pictures.length !== before.pictures.length) found.push(`${now.pictures.length} pictures, not ${before.pictures.length}`);
  else now.pictures.forEach((picture, i) => found.push(...inkDiffers(picture, before.pictures[i]!).map((what) => `picture ${i + 1}: ${what}`)));
  return found;
}

function partsInWords(now: readonly string[], before: readonly string[]): string {
  const at = now.findIndex((name, i) => name !== before[i]);
  const place = at < 0 ? now.length : at;
  return `part ${place + 1} is ${now[place] ?? 'not there'}, not ${before[place] ?? 'absent'}`;
}

function shifts(now: Part, before: Part, { page, flows }: Tolerance): string[] {
  if (!PICTURES.has(now.name) && now.name !== 'main') return [];
  const differ = (a: number, b: number, most: number) => Math.abs(a - b) > Math.max(LEAST_PIXELS, most);
  return [
    !flows && differ(now.x, before.x, SHIFT * page) ? `${now.name} begins at ${now.x}, not ${before.x}` : '',
    differ(now.width, before.width, RESIZE * before.width) ? `${now.name} is ${now.width} wide, not ${before.width}` : '',
    now.name !== 'main' && differ(now.height, before.height, RESIZE * before.height) ? `${now.name} is ${now.height} high, not ${before.height}` : '',
  ].filter(Boolean);
}

function inkDiffers(now: SeenPicture, before: SeenPicture): string[] {
  const [a, b] = [inkOf(now), inkOf(before)];
  const [sumA, sumB] = [a, b].map((ink) => ink.reduce((sum, each) => sum + each, 0)) as [number, number];
  if (sumB === 0) return sumA === 0 ? [] : ['it was empty'];
  if (sumA === 0) return ['it is empty'];
  const ratio = sumA / sumB;
  const alike = correlation(a, b);
  const colour = Math.max(...now.colour.map((level, i) => Math.abs(level - before.colour[i]!)));
  return [
    ratio > MOST_INK || ratio < 1 / MOST_INK ? `${ratio.toFixed(2)} times as much is drawn` : '',
    alike < LEAST_ALIKE ? `what is drawn lies elsewhere (alike: ${alike.toFixed(2)})` : '',
    colour > MOST_COLOUR ? `its mean colour is ${now.colour.join(', ')}, not ${before.colour.join(', ')}` : '',
  ].filter(Boolean);
}

function inkOf({ ink }: SeenPicture): number[] {
  return [...Buffer.from(ink, 'base64')];
}

/** Of even ink it is 1 with ink that is as even. */
export function correlation(a: readonly number[], b: readonly number[]): number {
  const mean = (all: readonly number[]) => all.reduce((sum, each) => sum + each, 0) / all.length;
  const [meanA, meanB] = [mean(a), mean(b)];
  let [both, ofA, ofB] = [0, 0, 0];
  a.forEach((each, i) => {
    const [x, y] = [each - meanA, b[i]! - meanB];
    both += x * y;
    ofA += x * x;
    ofB += y * y;
  });
  const EVEN = 4 * a.length; // no cell is far from the mean
  if (ofA < EVEN && ofB < EVEN) return 1;
  return both / Math.sqrt(Math.max(1, ofA) * Math.max(1, ofB));
}
