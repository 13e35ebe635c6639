// Stage: a view in a notebook or a saved page, with what the shell is for it elsewhere: the step, the keys, the words of
// its state.
import { h } from '../draw/dom';
import { loadFirings } from '../data/firings';
import type { Source } from '../data/source';
import { StepRanges } from '../data/step_ranges';
import type { MountView, RunRef, View, ViewContext, ViewState } from '../views/view';

import './stage.css';

export interface StageOptions {
  source: Source;
  run: RunRef;
  mount: MountView;
  state: ViewState;
  /** The user has chosen something. */
  changed?(state: ViewState): void;
}

export class Stage {
  private readonly view: View;
  private state: ViewState;
  private steps = new StepRanges([]);
  private readonly slider = h('input', { type: 'range', min: 0, max: 0, step: 1, 'aria-label': 'Step', oninput: () => this.slide() });
  private readonly older = h('button', { type: 'button', title: 'Step before ([)', onclick: () => this.move(-1) }, '◀');
  private readonly newer = h('button', { type: 'button', title: 'Step after (])', onclick: () => this.move(1) }, '▶');
  private readonly follow = h('input', { type: 'checkbox', onchange: () => this.seek(this.follow.checked ? null : this.steps.last) });
  private readonly stepText = h('output', { class: 'tw-step' });
  private readonly spoken = h('div', { class: 'tw-spoken', role: 'status', 'aria-live': 'polite' });
  private readonly watcher: MutationObserver;

  constructor(private readonly element: HTMLElement, private readonly options: StageOptions) {
    this.state = options.state;
    const host = h('div', { class: 'tw-view' });
    const live = h('label', { class: 'tw-live' }, this.follow, 'newest');
    element.classList.add('tw-stage');
    element.append(h('div', { class: 'tw-steps' }, 'Step', this.older, this.slider, this.newer, this.stepText, live), host, this.spoken);
    element.addEventListener('keydown', this.onKey);
    this.view = options.mount(host, this.context(), this.state);
    this.watcher = new MutationObserver(() => this.tellSteps());
    this.watcher.observe(host, { attributes: true, attributeFilter: ['data-drawn', 'data-step'] });
    this.tellSteps();
  }

  /** The state was changed from elsewhere. */
  update(state: ViewState): void {
    this.state = state;
    this.view.update(state);
    this.tellSteps();
  }

  destroy(): void {
    this.watcher.disconnect();
    this.element.removeEventListener('keydown', this.onKey);
    this.view.destroy();
    this.element.replaceChildren();
  }

  private context(): ViewContext {
    return {
      source: this.options.source,
      run: this.options.run,
      firings: () => loadFirings(this.options.source, this.options.run.id),
      change: (params) => this.choose(this.state.step, params),
      seek: (step) => this.seek(step),
      open: (_view, params, step) => this.choose(step === undefined ? this.state.step : step, params),
      link: () => undefined,
      announce: (text) => this.spoken.replaceChildren(text),
      actionsAllowed: false,
    };
  }

  private choose(step: number | null, params: Record<string, string | undefined>): void {
    const merged = Object.entries({ ...this.state.params, ...params }).filter((entry): entry is [string, string] => entry[1] !== undefined);
    this.state = { step, params: Object.fromEntries(merged) };
    this.options.changed?.(this.state);
    this.view.update(this.state);
    this.tellSteps();
  }

  private seek(step: number | null): void {
    this.choose(step, {});
  }

  private slide(): void {
    this.seek(this.steps.at(Number(this.slider.value)));
  }

  private move(by: number): void {
    const here = this.state.step ?? this.steps.last;
    if (here !== null) this.seek(this.steps.moved(here, by));
  }

  private tellSteps(): void {
    this.steps = StepRanges.of(this.view.steps?.() ?? []);
    const shown = this.state.step === null ? this.steps.last : this.steps.atOrBefore(this.state.step);
    const index = shown === null ? 0 : this.steps.rank(shown) - 1;
    this.slider.max = String(Math.max(0, this.steps.count - 1));
    this.slider.value = String(index);
    this.slider.setAttribute('aria-valuetext', shown === null ? 'none' : `step ${shown}`);
    this.older.disabled = index <= 0;
    this.newer.disabled = index >= this.steps.count - 1;
    this.follow.checked = this.state.step === null;
    this.stepText.replaceChildren(shown === null ? 'none yet' : String(shown));
  }

  /** Only keys that the view or the step take are kept from the notebook, which has keys of its own. */
  private readonly onKey = (event: KeyboardEvent): void => {
    const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '[') this.move(-1);
    else if (event.key === ']') this.move(1);
    else if (!this.view.key?.(event)) return;
    event.preventDefault();
    event.stopPropagation();
  };
}
