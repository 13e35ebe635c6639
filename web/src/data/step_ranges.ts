// StepRanges: rising steps as the API sends them, [first, stride, count] after [first, stride, count]. A million steps
// at regular distances are one range, and nothing here lists them.

export type Range = readonly [first: number, stride: number, count: number];

export class StepRanges {
  readonly count: number;
  private readonly ranges: readonly Range[];
  private readonly starts: number[]; // how many steps are before each range

  constructor(ranges: readonly Range[]) {
    this.ranges = ranges.filter(([, , count]) => count > 0);
    this.starts = [];
    let count = 0;
    for (const range of this.ranges) {
      this.starts.push(count);
      count += range[2];
    }
    this.count = count;
  }

  /** Of rising steps. */
  static of(steps: ArrayLike<number>): StepRanges {
    const ranges: [number, number, number][] = [];
    for (let i = 0; i < steps.length; ++i) {
      const step = steps[i]!;
      const last = ranges.at(-1);
      if (last && last[2] === 1) {
        last[1] = step - last[0];
        last[2] = 2;
      } else if (last && step === last[0] + last[1] * last[2]) {
        ++last[2];
      } else {
        ranges.push([step, 1, 1]);
      }
    }
    return new StepRanges(ranges);
  }

  get first(): number | null {
    return this.at(0);
  }

  get last(): number | null {
    return this.at(this.count - 1);
  }

  /** The index-th of all, null when there is none. */
  at(index: number): number | null {
    if (!(index >= 0 && index < this.count)) return null;
    const range = lastAtMost(this.starts, index);
    const [first, stride] = this.ranges[range]!;
    return first + (index - this.starts[range]!) * stride;
  }

  /** How many are at or before the step. */
  rank(step: number): number {
    const range = lastAtMost(this.ranges, step, ([first]) => first);
    if (range < 0) return 0;
    const [first, stride, count] = this.ranges[range]!;
    return this.starts[range]! + Math.min(count, Math.floor((step - first) / Math.max(stride, 1)) + 1);
  }

  has(step: number): boolean {
    return this.atOrBefore(step) === step;
  }

  /** The newest at or before the step, null when all are later. */
  atOrBefore(step: number): number | null {
    return this.at(this.rank(step) - 1);
  }

  /** The newest at or before the step; where all are later, the first. Null when there are none. */
  forCursor(step: number | null): number | null {
    return step === null ? this.last : (this.atOrBefore(step) ?? this.first);
  }

  /** The step `by` places after this one (before it: negative), clamped to the first and the last. */
  moved(step: number, by: number): number | null {
    if (this.count === 0) return null;
    const rank = this.rank(step);
    const here = by < 0 && !this.has(step) ? rank : rank - 1; // between two, the one before is one back already
    return this.at(Math.min(this.count - 1, Math.max(0, here + by)));
  }

  /** All of them; ask `count` first. */
  list(): Float64Array {
    const steps = new Float64Array(this.count);
    let place = 0;
    for (const [first, stride, count] of this.ranges) {
      for (let i = 0; i < count; ++i) steps[place++] = first + i * stride;
    }
    return steps;
  }
}

/** The index of the last that is at most `wanted`, -1 when none is. */
function lastAtMost<T>(sorted: readonly T[], wanted: number, key: (item: T) => number = Number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key(sorted[middle]!) <= wanted) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
