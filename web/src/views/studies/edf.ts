// The empirical distribution of a metric: which share of the trials is at most so large.

export interface EdfStep<Of> {
  of: Of;
  value: number;
  /** Of all that are counted, those at most as large; in (0, 1]. */
  share: number;
}

/** Those with a finite value, from the smallest on. Equal ones share the step of the last of them. */
export function edfOf<Of>(all: readonly Of[], valueOf: (each: Of) => number): EdfStep<Of>[] {
  const sorted = all.map((of) => ({ of, value: valueOf(of) })).filter(({ value }) => Number.isFinite(value)).sort((a, b) => a.value - b.value);
  const steps: EdfStep<Of>[] = sorted.map((each) => ({ ...each, share: 0 }));
  for (let i = steps.length - 1; i >= 0; --i) {
    const next = steps[i + 1];
    steps[i]!.share = next?.value === steps[i]!.value ? next.share : (i + 1) / steps.length;
  }
  return steps;
}

/** Corners of its stairs, from `low`, where the share is 0, to `high`, where it is 1. */
export function edfStairs<Of>(steps: readonly EdfStep<Of>[], low: number, high: number): (readonly [x: number, y: number])[] {
  const corners: (readonly [number, number])[] = [[low, 0]];
  for (const { value, share } of steps) if (corners.at(-1)![0] !== value || corners.length === 1) corners.push([value, share]);
  corners.push([high, 1]);
  return corners;
}
