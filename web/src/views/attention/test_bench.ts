// What the tests of the attention view share: a view on a fake source, and a link that it changes.
import { idOf } from '../../data/ids';
import type { ViewContext, ViewState } from '../view';

import { AttentionView, type Panes } from './attention_view';
import { type FakeModel, FakeSource, SMALL } from './fake_source';

export class Bench {
  readonly source: FakeSource;
  readonly element = document.createElement('div');
  readonly said: string[] = [];
  readonly view: AttentionView;
  state: ViewState;

  constructor(panes: Panes, params: Record<string, string> = {}, model: FakeModel = SMALL, step: number | null = null) {
    document.body.append(this.element);
    this.source = new FakeSource(model);
    this.state = { step, params };
    const context: ViewContext = {
      source: this.source,
      run: { id: idOf('r'), name: 'r' },
      firings: () => Promise.resolve([]),
      change: (words) => this.go({ params: merged(this.state.params, words) }),
      seek: (to) => this.go({ step: to }),
      open: () => undefined,
      link: () => undefined,
      announce: (text) => void this.said.push(text),
      actionsAllowed: false,
    };
    this.view = new AttentionView(this.element, context, this.state, panes);
  }

  go(change: Partial<ViewState>): void {
    this.state = { ...this.state, ...change };
    this.view.update(this.state);
  }

  /** Waits until the page says so. */
  async until(holds: () => boolean): Promise<void> {
    for (let i = 0; i < 200 && !holds(); i++) await new Promise((done) => setTimeout(done, 5));
    if (!holds()) throw new Error(`it never came to ${holds.toString()}: ${this.element.innerHTML.slice(0, 2000)}`);
  }

  all(selector: string): HTMLElement[] {
    return [...this.element.querySelectorAll<HTMLElement>(selector)];
  }

  one(selector: string): HTMLElement {
    const found = this.element.querySelector<HTMLElement>(selector);
    if (!found) throw new Error(`nothing is ${selector} in ${this.element.innerHTML.slice(0, 2000)}`);
    return found;
  }

  /** What the pane says that it shows. */
  async pane(name: string, value: string): Promise<HTMLElement> {
    await this.until(() => this.all('[data-pane]')[0]?.dataset[name] === value);
    return this.one('[data-pane]');
  }

  close(): void {
    this.view.destroy();
    this.element.remove();
  }
}

function merged(params: Readonly<Record<string, string>>, words: Record<string, string | undefined>): Record<string, string> {
  const all = { ...params, ...words };
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
