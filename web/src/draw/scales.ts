// Scales: where a value lies on an axis, from 0 to 1, and which values are written beside it.
import { short } from './numbers';

export interface Tick {
  /** In [0, 1]. */
  place: number;
  text: string;
}

export interface Scale {
  /** NaN for what has no place. */
  place(value: number): number;
  value(place: number): number;
  text(value: number): string;
  /** About so many, of round values. */
  ticks(about: number): Tick[];
}

/** "0.25", "12,000", "1e9": short enough for the side of an axis. */
function tickText(value: number): string {
  return Math.abs(value) < LONG ? short(value) : short(value / 10 ** tens(value), 3) + `e${tens(value)}`;
}

const LONG = 1e6;
const tens = (value: number) => Math.floor(Math.log10(Math.abs(value)));

/** Of numbers, evenly; equal ends get some room. */
export function linearScale(low: number, high: number, text: (value: number) => string = tickText): Scale {
  const room = high > low ? 0 : Math.abs(low) / 2 || 1;
  const from = low - room;
  const span = high + room - from;
  const place = (value: number) => (value - from) / span;
  return {
    place, text,
    value: (at) => from + at * span,
    ticks: (about) => roundValues(from, from + span, about).map((value) => ({ place: place(value), text: text(value) })),
  };
}

/** Of whole numbers, evenly: nothing between them is written. */
export function integerScale(low: number, high: number): Scale {
  const inner = low === high ? linearScale(low - 1, high + 1) : linearScale(low, high);
  const isOne = (value: number) => Math.abs(value - Math.round(value)) < 1e-6 && value > low - 0.5 && value < high + 0.5;
  return { ...inner, ticks: (about) => inner.ticks(about).filter(({ place }) => isOne(inner.value(place))) };
}

/** Of numbers above 0, by their logarithm. */
export function logScale(low: number, high: number): Scale {
  const inner = linearScale(Math.log10(low), Math.log10(high));
  const place = (value: number) => (value > 0 ? inner.place(Math.log10(value)) : NaN);
  return {
    place, text: short,
    value: (at) => 10 ** inner.value(at),
    ticks: (about) => powers(low, high, about).map((value) => ({ place: place(value), text: short(value) })),
  };
}

/** Of choices, by their index: each in the middle of its part. */
export function choiceScale(choices: readonly string[]): Scale {
  const count = Math.max(1, choices.length);
  const place = (index: number) => (index + 0.5) / count;
  const every = (about: number) => Math.max(1, Math.ceil(count / Math.max(1, about)));
  return {
    place,
    value: (at) => at * count - 0.5,
    text: (index) => choices[Math.round(index)] ?? '',
    ticks: (about) => choices.flatMap((text, i) => (i % every(about) === 0 ? [{ place: place(i), text }] : [])),
  };
}

/** The scale that these numbers need; without a finite one that of 0 to 1. By logarithm only where all are above 0. */
export function scaleOf(values: readonly number[], log = false): Scale {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) return linearScale(0, 1);
  return log && low > 0 ? logScale(low, high) : linearScale(low, high);
}

function roundValues(low: number, high: number, about: number): number[] {
  const rough = (high - low) / Math.max(1, about);
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = size * ([1, 2, 5, 10].find((each) => each * size >= rough * 0.999) ?? 10);
  const values: number[] = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) values.push(Number((i * step).toPrecision(12)));
  return values;
}

/** Powers of ten, thinned; where there are fewer than two between the ends also twice and five times these. */
function powers(low: number, high: number, about: number): number[] {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const tens = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  const within = (value: number) => value >= low * 0.999 && value <= high * 1.001;
  const whole = tens.map((power) => Number(`1e${power}`)).filter(within);
  if (whole.length >= 2) return whole.filter((_, i) => i % Math.ceil(whole.length / Math.max(1, about)) === 0);
  const finer = tens.flatMap((power) => [1, 2, 5].map((each) => Number(`${each}e${power}`))).filter(within);
  return finer.length > 0 ? finer : [low];
}
