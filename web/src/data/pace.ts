// Pace: acts at once, then no sooner than `gapMs` after the last time; what is asked for in between is done once, at the end.

export class Pace {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private lastMs = -Infinity;

  constructor(
    private readonly gapMs: number,
    private readonly act: () => void,
  ) {}

  ask(): void {
    if (this.timer !== undefined) return;
    const rest = this.lastMs + this.gapMs - performance.now();
    if (rest <= 0) this.now();
    else this.timer = setTimeout(() => this.now(), rest);
  }

  now(): void {
    this.stop();
    this.lastMs = performance.now();
    this.act();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
