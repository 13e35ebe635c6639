// HeldNotices: news of steps wait while nobody sees the tab, the newest of each run; a tab in the background costs nothing.
import type { Notice } from './source';

export class HeldNotices {
  private readonly held = new Map<string, Notice>();

  constructor(private readonly pass: (notice: Notice) => void) {
    if (typeof document === 'undefined') return;
    document.addEventListener('visibilitychange', () => this.release());
  }

  /** What rules and states do stands in the tab's title, so it passes at all times. */
  take(notice: Notice): void {
    if (notice.kind === 'steps' && typeof document !== 'undefined' && document.hidden) this.held.set(notice.run, notice);
    else this.pass(notice);
  }

  private release(): void {
    if (document.hidden) return;
    const notices = [...this.held.values()];
    this.held.clear();
    for (const notice of notices) this.pass(notice);
  }
}
