// ColourRange: which colour a number of the map has. One scale for all layers and steps.
import type { Quantity } from './quantities';
import { textOf } from './quantities';

export interface ColourRange {
  low: number;
  high: number;
  log: boolean;
  /** Zeros are among the numbers: by logarithm they have no place, and a colour of their own. */
  zeros: boolean;
}

/** By logarithm where it is wanted and anything is above 0. */
export function rangeOf(quantity: Quantity, values: Float64Array, wantsLog: boolean): ColourRange | undefined {
  let [low, least, high, zeros] = [Infinity, Infinity, -Infinity, false];
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
    if (value > 0) least = Math.min(least, value);
    else zeros = true;
  }
  if (low > high) return undefined;
  if (wantsLog && high > 0) return { low: least, high, log: true, zeros };
  return quantity.isShare ? { low: 0, high: 1, log: false, zeros } : { low, high, log: false, zeros };
}

/** Where a number lies, in [0, 1]; NaN: no place on the scale. One for many numbers. */
export function placesIn(range: ColourRange): (value: number) => number {
  const at = range.log ? Math.log : (x: number) => x;
  const low = at(range.low);
  const span = at(range.high) - low;
  if (!(span > 0)) return (value) => (range.log && !(value > 0) ? NaN : 0.5);
  if (!range.log) return (value) => (value - low) / span;
  return (value) => (value > 0 ? (Math.log(value) - low) / span : NaN);
}

export function endsOf(quantity: Quantity, range: ColourRange): [string, string] {
  return [textOf(quantity, range.low), textOf(quantity, range.high)];
}
