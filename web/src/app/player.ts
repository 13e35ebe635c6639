// Player: moves the cursor from step to step in time.
import type { StepRanges } from '../data/step_ranges';

export const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16] as const;

/** At speed 1. */
const STEPS_PER_SECOND = 4;

export class Player {
  private timer: ReturnType<typeof setTimeout> | undefined;
  speed = 1;
  loop = false;

  constructor(
    private readonly now: () => { step: number | null; steps: StepRanges },
    private readonly seek: (step: number) => void,
    private readonly ended: () => void,
  ) {}

  start(): void {
    const { step, steps } = this.now();
    if (step !== null && step >= (steps.last ?? step) && steps.first !== null) this.seek(steps.first); // from the beginning
    this.wait();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private wait(): void {
    this.timer = setTimeout(() => this.advance(), 1000 / (STEPS_PER_SECOND * this.speed));
  }

  private advance(): void {
    const { step, steps } = this.now();
    if (steps.last === null) return this.wait(); // they are not known yet
    const atEnd = step === null || step >= (steps.last ?? step);
    const next = atEnd ? (this.loop ? steps.first : null) : steps.moved(step, 1);
    if (next === null) {
      this.stop();
      this.ended();
      return;
    }
    this.seek(next);
    this.wait();
  }
}
