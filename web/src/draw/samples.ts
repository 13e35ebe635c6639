// Samples in buckets of time: where buckets are shorter than the pause between two samples, most of them have none.

const USUAL_GAPS = 2.5; // times the usual pause: more is missing data

/** The buckets that have a value, in stretches: a new one begins where much more is missing than between samples. */
export function sampledStretches(values: readonly (number | null)[]): number[][] {
  const known = values.flatMap((value, i) => (value === null ? [] : [i]));
  const gaps = known.slice(1).map((at, i) => at - known[i]!).sort((a, b) => a - b);
  const usual = gaps[(gaps.length - 1) >> 1] ?? 1;
  const stretches: number[][] = [];
  known.forEach((at, i) => {
    if (i > 0 && at - known[i - 1]! <= USUAL_GAPS * usual) stretches.at(-1)!.push(at);
    else stretches.push([at]);
  });
  return stretches;
}
