// The axis that the time line and the heat map share: a stretch of time on some pixels.
import { clock } from './words';

/** Room for names on the left of what shares the axis; less where the screen is narrow. */
export const LEFT = 132;
const NARROW_LEFT = 84;
const NARROW = 480;
export const RIGHT = 12;

export interface Stretch {
  from: number;
  to: number;
}

const STEPS_MS = [100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1.5e4, 3e4, 6e4, 1.2e5, 3e5, 6e5, 9e5, 1.8e6, 3.6e6, 7.2e6, 1.08e7, 2.16e7, 4.32e7, 8.64e7, 1.728e8, 6.048e8];

export class TimeAxis {
  constructor(
    readonly stretch: Stretch,
    readonly width: number,
  ) {}

  get left(): number {
    return this.width < NARROW ? NARROW_LEFT : LEFT;
  }

  get plotWidth(): number {
    return Math.max(1, this.width - this.left - RIGHT);
  }

  x(unixMs: number): number {
    const { from, to } = this.stretch;
    return this.left + ((unixMs - from) / Math.max(1e-9, to - from)) * this.plotWidth;
  }

  /** Held within the stretch. */
  time(x: number): number {
    const { from, to } = this.stretch;
    return from + Math.min(1, Math.max(0, (x - this.left) / this.plotWidth)) * (to - from);
  }

  /** At round times of the clock, at most one for each hundred pixels. */
  ticks(): { x: number; text: string }[] {
    const { from, to } = this.stretch;
    const least = ((to - from) * 100) / this.plotWidth;
    const step = STEPS_MS.find((each) => each >= least) ?? Math.ceil(least / 8.64e7) * 8.64e7;
    const zone = new Date(from).getTimezoneOffset() * 60_000;
    const ticks: { x: number; text: string }[] = [];
    for (let at = Math.ceil((from - zone) / step) * step + zone; at <= to; at += step) ticks.push({ x: this.x(at), text: clock(at, to - from) });
    return ticks;
  }
}

/** A stretch that has some length, and lies within the whole. */
export function within(stretch: Stretch, whole: Stretch): Stretch {
  const length = Math.min(Math.max(stretch.to - stretch.from, 10), whole.to - whole.from);
  const from = Math.min(Math.max(stretch.from, whole.from), whole.to - length);
  return { from, to: from + length };
}

/** Around a place that stays where it is. */
export function zoomed(stretch: Stretch, factor: number, at: number): Stretch {
  return { from: at - (at - stretch.from) / factor, to: at + (stretch.to - at) / factor };
}
