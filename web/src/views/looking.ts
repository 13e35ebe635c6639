// Looking: asks again and again while somebody sees the page; what was shown before stays when an answer fails.
import { SourceError } from '../data/source';
import { h, replace } from '../draw/dom';

export const LIVE_MS = 2000;
export const CALM_MS = 10_000; // while nothing is expected to change

export class Looking {
  readonly body = h('div', { class: 'list-body' });
  private readonly fault = h('div', { class: 'fault', role: 'alert', hidden: true });
  private round = 0; // grows when something else is asked
  private isThere = false; // something was answered
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    element: HTMLElement,
    /** What leads on from a fault. */
    private readonly home: { href: string; title: string },
  ) {
    element.classList.add('fills');
    replace(element, this.fault, this.body);
  }

  /** From now on this is asked. It gives the pause until it is asked again, and draws unless `isOver` by then. */
  start(ask: (isOver: () => boolean) => Promise<number>): void {
    this.isThere = false;
    clearTimeout(this.timer);
    void this.look(++this.round, ask);
  }

  stop(): void {
    ++this.round;
    clearTimeout(this.timer);
  }

  private async look(round: number, ask: (isOver: () => boolean) => Promise<number>): Promise<void> {
    const isOver = () => round !== this.round;
    let pause = LIVE_MS;
    if (document.visibilityState !== 'hidden') {
      try {
        pause = await ask(isOver);
        if (!isOver()) this.tell(null);
      } catch (error) {
        if (!(error instanceof SourceError)) throw error;
        if (!isOver()) this.tell(error);
      }
    }
    if (!isOver()) this.timer = setTimeout(() => void this.look(round, ask), pause);
  }

  private tell(error: SourceError | null): void {
    this.isThere ||= error === null;
    this.fault.hidden = this.isThere;
    this.body.hidden = !this.isThere;
    if (error) replace(this.fault, h('p', {}, error.message), h('p', {}, h('a', { href: this.home.href }, this.home.title)));
  }
}
