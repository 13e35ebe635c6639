import { afterEach, describe, expect, it, vi } from 'vitest';

import type { Source } from '../data/source';
import { drawn } from '../draw/drawn';
import type { View, ViewContext, ViewState } from '../views/view';

import { Stage } from './stage';

class FakeView implements View {
  seen: ViewState[] = [];
  listed: number[] = [10, 20, 30];
  destroyed = false;

  constructor(readonly element: HTMLElement, readonly context: ViewContext, state: ViewState) {
    this.seen.push(state);
  }

  update(state: ViewState): void {
    this.seen.push(state);
  }

  steps(): number[] {
    return this.listed;
  }

  key(event: KeyboardEvent): boolean {
    return event.key === '.';
  }

  snapshot(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  destroy(): void {
    this.destroyed = true;
  }
}

let stage: Stage | undefined;

function open(step: number | null = null): { element: HTMLElement; view: FakeView; changed: ViewState[] } {
  const element = document.createElement('div');
  document.body.append(element);
  let view!: FakeView;
  const changed: ViewState[] = [];
  stage = new Stage(element, {
    source: {} as Source, run: { id: '0', name: 'r' }, state: { step, params: { layer: '1' } },
    mount: (host, context, state) => (view = new FakeView(host, context, state)),
    changed: (state) => changed.push(state),
  });
  return { element, view, changed };
}

function press(element: HTMLElement, key: string): boolean {
  return !element.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
}

afterEach(() => {
  stage?.destroy();
  document.body.replaceChildren();
});

describe('Stage', () => {
  it('merges the words that a view changes, and removes those without a value', () => {
    const { view, changed } = open();
    view.context.change({ heads: '3', layer: undefined });
    expect(changed).toEqual([{ step: null, params: { heads: '3' } }]);
    expect(view.seen.at(-1)).toEqual(changed[0]);
  });

  it('moves through the steps that the view has, by button, slider and key', () => {
    const { element, changed } = open();
    const slider = element.querySelector<HTMLInputElement>('input[type="range"]')!;
    expect([slider.max, slider.value, element.querySelector('output')!.textContent]).toEqual(['2', '2', '30']);
    element.querySelector<HTMLButtonElement>('button')!.click();
    expect(changed.at(-1)!.step).toBe(20);
    slider.value = '0';
    slider.dispatchEvent(new Event('input'));
    expect(changed.at(-1)!.step).toBe(10);
    expect(press(element, ']')).toBe(true);
    expect(changed.at(-1)!.step).toBe(20);
  });

  it('takes from the notebook only the keys that mean something here', () => {
    const { element } = open();
    expect([press(element, '.'), press(element, 'a')]).toEqual([true, false]);
  });

  it('learns of steps that came meanwhile', async () => {
    const { element, view } = open();
    view.listed = [10, 20, 30, 40];
    drawn(view.element, 40);
    await vi.waitFor(() => expect(element.querySelector('output')!.textContent).toBe('40'));
  });

  it('shows a state that was set from elsewhere, and leaves nothing when it is gone', () => {
    const { element, view, changed } = open(10);
    stage!.update({ step: 20, params: {} });
    expect([view.seen.at(-1)!.step, changed.length, element.querySelector('output')!.textContent]).toEqual([20, 0, '20']);
    stage!.destroy();
    expect([view.destroyed, element.childElementCount]).toEqual([true, 0]);
  });
});
