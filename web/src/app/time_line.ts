// TimeLine: the places of steps on the time bar, and the marks of those that exist.
import type { StepRanges } from '../data/step_ranges';

const EDGE = 8; // room for half a handle

export class TimeLine {
  constructor(
    private readonly first: number,
    private readonly last: number,
    private readonly width: number,
  ) {}

  x(step: number): number {
    if (this.last <= this.first) return this.width / 2;
    return EDGE + ((step - this.first) / (this.last - this.first)) * (this.width - 2 * EDGE);
  }

  step(x: number): number {
    const share = (x - EDGE) / Math.max(1, this.width - 2 * EDGE);
    return Math.round(this.first + Math.min(1, Math.max(0, share)) * (this.last - this.first));
  }

  /** An SVG path with one upright for each pixel that has a step: a million steps cost no more than the width. */
  marks(steps: StepRanges, top: number, height: number): string {
    let path = '';
    for (let rank = 0; rank < steps.count; ) {
      const step = steps.at(rank)!;
      const x = Math.round(this.x(step));
      path += `M${x} ${top}v${height}`;
      const next = this.step(x + 1);
      rank = Math.max(rank + 1, steps.rank(next - 1));
    }
    return path;
  }

  /** The one of `steps` that is nearest to a place. */
  nearest(steps: StepRanges, x: number): number | null {
    const wanted = this.step(x);
    const before = steps.atOrBefore(wanted);
    const after = steps.at(steps.rank(wanted));
    if (before === null || after === null) return before ?? after;
    return wanted - before <= after - wanted ? before : after;
  }
}
