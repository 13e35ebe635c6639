// What small floating-point types can hold: where a tensor would overflow or vanish in them.
export interface Limits {
  dtype: string;
  /** The largest finite number. */
  largest: number;
  /** Smaller ones lose digits. */
  smallestNormal: number;
  /** Below half of it is zero. */
  smallest: number;
}

export const LIMITS: readonly Limits[] = [
  { dtype: 'float16', largest: 65504, smallestNormal: 2 ** -14, smallest: 2 ** -24 },
  { dtype: 'bfloat16', largest: (2 - 2 ** -7) * 2 ** 127, smallestNormal: 2 ** -126, smallest: 2 ** -133 },
  { dtype: 'float8_e4m3', largest: 448, smallestNormal: 2 ** -6, smallest: 2 ** -9 },
  { dtype: 'float8_e5m2', largest: 57344, smallestNormal: 2 ** -14, smallest: 2 ** -16 },
];

export interface Shares {
  over: number;
  /** Subnormal: fewer digits. */
  coarse: number;
  zero: number;
}

/** Of elements in bins by magnitude, what becomes of them in the dtype, as parts of 1. A bin counts by its middle. */
export function sharesOf(limits: Limits, lower: ArrayLike<number>, upper: ArrayLike<number>, counts: ArrayLike<number>): Shares {
  const shares: Shares = { over: 0, coarse: 0, zero: 0 };
  let all = 0;
  for (let bin = 0; bin < counts.length; ++bin) {
    const magnitude = Math.sqrt(Math.abs(lower[bin]!) * Math.abs(upper[bin]!));
    all += counts[bin]!;
    if (magnitude > limits.largest) shares.over += counts[bin]!;
    else if (magnitude < limits.smallest / 2) shares.zero += counts[bin]!;
    else if (magnitude < limits.smallestNormal) shares.coarse += counts[bin]!;
  }
  if (all > 0) for (const key of ['over', 'coarse', 'zero'] as const) shares[key] /= all;
  return shares;
}
