// Colours of data. Magnitudes: viridis, cividis. Signed numbers: blue, neutral, orange. Kinds: Okabe and Ito's eight,
// which people with any colour vision can distinguish; a second cue (a dash, a shape) belongs to each.

/** 256 colours, three bytes each. */
export type Lut = Uint8Array;

// Every eighth colour of matplotlib's maps (CC0); between them a straight line, at most two levels off in viridis and six
// in cividis.
const VIRIDIS =
  '440154470d6048186a482374472d7b4536814240863f49893b528b375a8d33638d2f6a8e2c728e297a8e26818e23898e21908c1f988b1f9f8821a68528ae8031b57b3ebc744cc26c5dc9636ece5882d34c96d83fabdc32c0df24d5e21aeae51afde725';
const CIVIDIS =
  '00224e00285b002e6a0433711a386f273e6e32436d3b496c434e6c4b546c52596d5a5f6e61656f686a716f70737576767c7b788481798b8778938d789b9376a39a75aba072b3a670bbad6cc3b469ccba64d4c15fddc958e6d051efd748f8df3cfee838';
const BLUE_ORANGE = '0b3c6f2a6bac6ea6d6b9d4eaf3f2eff5cf9ee59a4bb96414703605';

function lutOf(stops: string): Lut {
  const count = stops.length / 6;
  const level = (stop: number, channel: number) => parseInt(stops.slice(6 * stop + 2 * channel, 6 * stop + 2 * channel + 2), 16);
  const lut = new Uint8Array(256 * 3);
  for (let i = 0; i < 256; ++i) {
    const place = (i / 255) * (count - 1);
    const stop = Math.min(count - 2, Math.floor(place));
    for (let channel = 0; channel < 3; ++channel) {
      const from = level(stop, channel);
      lut[3 * i + channel] = Math.round(from + (level(stop + 1, channel) - from) * (place - stop));
    }
  }
  return lut;
}

const made = new Map<string, Lut>();

function once(stops: string): Lut {
  const lut = made.get(stops) ?? lutOf(stops);
  made.set(stops, lut);
  return lut;
}

export const viridis = (): Lut => once(VIRIDIS);
export const cividis = (): Lut => once(CIVIDIS);
/** Its middle, 0.5, is zero. */
export const blueOrange = (): Lut => once(BLUE_ORANGE);

/** "rgb(68 1 84)" of a place in [0, 1]; places outside are held at the ends. */
export function colourAt(lut: Lut, place: number): string {
  const i = 3 * Math.round(255 * Math.min(1, Math.max(0, place)));
  return `rgb(${lut[i]} ${lut[i + 1]} ${lut[i + 2]})`;
}

/** Of a rank from 0, the worst, to 1, the best: what is better stands out more from the ground. NaN: no rank. */
export function rankColour(rank: number, dark: boolean): string {
  return colourAt(viridis(), Number.isNaN(rank) ? 0.5 : dark ? 0.3 + 0.7 * rank : 0.75 * (1 - rank));
}

/** Black or white, whichever reads better on the colour. */
export function inkOn(lut: Lut, place: number): string {
  const i = 3 * Math.round(255 * Math.min(1, Math.max(0, place)));
  const luminance = [0.2126, 0.7152, 0.0722].reduce((sum, weight, channel) => {
    const level = lut[i + channel]! / 255;
    return sum + weight * (level <= 0.04045 ? level / 12.92 : ((level + 0.055) / 1.055) ** 2.4);
  }, 0);
  return luminance > 0.179 ? '#000' : '#fff';
}

/** What NaN and the infinities look like, beside a pattern or a letter. */
export const nonFinite = { nan: '#cc2fb4', positive: '#e4572e', negative: '#2e86e4' } as const;

/** The colour of a number on a scale, as bytes of an image: `into` gets red, green, blue, alpha from `offset` on. */
export function paint(lut: Lut, place: number, into: Uint8ClampedArray, offset: number): void {
  if (Number.isNaN(place)) {
    into.set([204, 47, 180, 255], offset);
    return;
  }
  const i = 3 * Math.round(255 * Math.min(1, Math.max(0, place)));
  into[offset] = lut[i]!;
  into[offset + 1] = lut[i + 1]!;
  into[offset + 2] = lut[i + 2]!;
  into[offset + 3] = 255;
}

/** A line's colour on a dark ground and on a light one (3:1 on each), its dash, and its mark. */
export interface Category {
  light: string;
  dark: string;
  dash: readonly number[];
  shape: 'circle' | 'square' | 'triangle' | 'diamond';
}

// Okabe and Ito's, those too pale for a light ground made darker.
export const categories: readonly Category[] = [
  { light: '#0072b2', dark: '#4fb0ea', dash: [], shape: 'circle' },
  { light: '#b04a00', dark: '#f0843c', dash: [], shape: 'square' },
  { light: '#00795a', dark: '#1fbf92', dash: [], shape: 'triangle' },
  { light: '#a8487f', dark: '#dd8fbd', dash: [], shape: 'diamond' },
  { light: '#8a6a00', dark: '#e6a817', dash: [6, 3], shape: 'circle' },
  { light: '#1f77a8', dark: '#7cc6ef', dash: [6, 3], shape: 'square' },
  { light: '#6f6a00', dark: '#e8dc4a', dash: [2, 3], shape: 'triangle' },
  { light: '#4d4d4d', dark: '#c4c4c4', dash: [2, 3], shape: 'diamond' },
];

export function categoryOf(index: number): Category {
  return categories[index % categories.length]!;
}
