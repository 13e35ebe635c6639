// The part of the view that shows a recorded window: the calls of one step of one worker, and the flame graph of all.
import { SourceError } from '../../data/source';
import { h, replace } from '../../draw/dom';
import { count } from '../../draw/numbers';
import type { ViewContext } from '../view';
import type { FlameAnswer, RecordedStep } from './api';
import { CallIndex } from './call_index';
import { CallTimeline } from './call_timeline';
import { callsIn, callTable, kindLegend } from './calls';
import { FlameGraph } from './flame_graph';
import { flameTree, timesByName, type FlameTree } from './flame_layout';
import { memoryIn } from './memory_lane';
import { part } from './shapes';
import { counted, percent, time } from './words';

type Params = Readonly<Record<string, string>>;

const LARGE_CALLS = 300_000; // more are drawn when somebody asks

export class WindowPart {
  readonly element = h('div', {});
  private readonly callControls = h('div', { class: 'toolbar' });
  private readonly callNote = h('p', { class: 'muted', role: 'status' });
  private readonly callSaid = h('div', { class: 'call-said' });
  private readonly legend = h('p', { class: 'muted call-legend' });
  private readonly calls: CallTimeline;
  private readonly flameControls = h('div', { class: 'toolbar' });
  private readonly flameNote = h('p', { class: 'muted', role: 'status' });
  private readonly flameSaid = h('p', { class: 'muted flame-said' });
  private readonly flameList = h('div', {});
  private readonly flame: FlameGraph;
  private readonly observer: IntersectionObserver | null;
  private readonly gone = new AbortController();
  private windows: RecordedStep[] | null = null;
  private params: Params = {};
  private step: number | null = null;
  private index: CallIndex | null = null;
  private tree: FlameTree | null = null;
  private zoom = 0;
  private shownCalls = '';
  private shownFlame = '';
  private seen = false;
  private wanted = ''; // a large window that was asked for
  private runName = '';

  constructor(private readonly context: ViewContext) {
    this.calls = new CallTimeline({ choose: (call, aloud) => this.sayCall(call, aloud), drawn: () => (this.element.dataset['calls'] = this.shownCalls) });
    this.flame = new FlameGraph({ chosen: (node, aloud) => this.sayFrame(node, aloud), zoomed: (node) => this.zoomed(node) });
    this.observer = typeof IntersectionObserver === 'undefined' ? null : new IntersectionObserver((entries) => entries.some((each) => each.isIntersecting) && this.appear(), { rootMargin: '400px' });
    this.observer?.observe(this.element);
    window.addEventListener('beforeprint', this.appear);
  }

  /** `steps` are all recorded windows; null while they are not known. */
  show(windows: RecordedStep[] | null, params: Params, step: number | null, runName: string): void {
    const first = this.windows === null;
    this.windows = windows;
    this.params = params;
    this.step = step;
    this.runName = runName;
    if (!windows || windows.length === 0) {
      if (windows) replace(this.element, part('window', 'Calls of a step', h('p', { class: 'muted' }, 'No operators were recorded. Of a training that runs, this records ten steps:'), h('pre', {}, `trainwarden profile ${runName} --steps 10 --wait`)));
      return;
    }
    if (first || this.element.childElementCount < 2) {
      replace(this.element,
        part('window', 'Calls of a step', this.callControls, this.callNote, this.calls.box, this.legend, this.callSaid),
        part('flame', 'Flame graph', this.flameControls, this.flameNote, this.flame.box, this.flameSaid, this.flameList));
    }
    this.drawControls();
    if (!this.observer) this.seen = true;
    if (this.seen) void this.load();
  }

  destroy(): void {
    this.gone.abort();
    this.observer?.disconnect();
    window.removeEventListener('beforeprint', this.appear);
    this.calls.destroy();
    this.flame.destroy();
  }

  /** Calls are many: they are asked for once somebody comes near, or prints. */
  private readonly appear = (): void => {
    if (this.seen) return;
    this.seen = true;
    void this.load();
  };

  // --- choosing

  /** What the link names; else the newest recorded step at or before the shared one, else the first. */
  private chosen(): RecordedStep | undefined {
    const windows = this.windows ?? [];
    const workers = windows.filter(({ worker }) => worker === (this.params['of_worker'] ?? windows[0]!.worker));
    const wanted = this.params['window'] === undefined ? this.step : Number(this.params['window']);
    if (wanted === null) return workers[0] ?? windows[0];
    const before = workers.filter(({ step }) => step <= wanted).sort((a, b) => b.step - a.step)[0];
    return before ?? workers[0] ?? windows[0];
  }

  private drawControls(): void {
    const windows = this.windows!;
    const chosen = this.chosen()!;
    const workers = [...new Set(windows.map(({ worker }) => worker))];
    const steps = windows.filter(({ worker }) => worker === chosen.worker);
    const choice = (values: (string | number)[], now: string | number, name: string, change: (value: string) => void) => {
      const select = h('select', { 'aria-label': name, onchange: () => change(select.value) }, ...values.map((value) => h('option', { value, selected: value === now }, String(value))));
      return select;
    };
    const search = h('input', { type: 'search', id: 'call-search', placeholder: 'aten::mm', oninput: () => this.searchCalls(search.value) });
    const focused = document.activeElement?.id === 'call-search' ? (document.activeElement as HTMLInputElement).value : null;
    if (focused !== null) return; // somebody types
    replace(this.callControls,
      workers.length > 1 && h('label', {}, 'Worker ', choice(workers, chosen.worker, 'Worker', (of_worker) => this.context.change({ of_worker, window: undefined }))),
      h('label', {}, 'Step ', choice(steps.map(({ step }) => step), chosen.step, 'Recorded step', (window) => this.context.change({ window }))),
      h('label', {}, 'Search ', search),
      h('button', { onclick: () => this.calls.zoom(2), title: 'Zoom in (+)' }, 'Zoom in'), h('button', { onclick: () => this.calls.zoom(0.5), title: 'Zoom out (−)' }, 'Zoom out'), h('button', { onclick: () => this.calls.fit(), title: 'The whole step (0)' }, 'Whole step'),
      h('button', { class: 'quiet', onclick: () => this.context.seek(chosen.step) }, `Go to step ${count(chosen.step)}`),
      h('span', { class: 'muted' }, `${counted(chosen.calls, 'call')}${chosen.lost_calls > 0 ? `, ${count(chosen.lost_calls)} lost` : ''}`));
    this.drawFlameControls();
  }

  private drawFlameControls(): void {
    const hasStacks = this.windows!.some(({ has_stacks }) => has_stacks);
    const of = this.flameOf();
    const toggle = (value: 'operators' | 'stacks', title: string) => h('button', { 'aria-pressed': of === value ? 'true' : 'false', onclick: () => this.context.change({ of: value === 'operators' ? undefined : value }) }, title);
    const search = h('input', { type: 'search', id: 'flame-search', placeholder: 'backward', oninput: () => this.searchFlame(search.value) });
    if (document.activeElement?.id === 'flame-search') return;
    replace(this.flameControls,
      hasStacks && h('span', { class: 'toggle', role: 'group', 'aria-label': 'Stacks of' }, toggle('operators', 'Operators'), toggle('stacks', 'Python')),
      h('label', {}, 'Search ', search),
      h('button', { onclick: () => this.flame.zoomTo(0), title: 'All (0)' }, 'Show all'));
  }

  private flameOf(): 'operators' | 'stacks' {
    return this.params['of'] === 'stacks' ? 'stacks' : 'operators';
  }

  // --- asking

  private async load(): Promise<void> {
    if (!this.windows || this.windows.length === 0) return;
    await Promise.all([this.loadCalls(), this.loadFlame()]);
  }

  private async loadCalls(): Promise<void> {
    const chosen = this.chosen()!;
    const key = `${chosen.worker} ${chosen.step}`;
    if (key === this.shownCalls) return;
    if (chosen.calls > LARGE_CALLS && this.wanted !== key) return this.offer(chosen, key);
    this.shownCalls = key;
    const asked = performance.now();
    try {
      const arrays = await this.context.source.arrays(`/runs/${this.context.run.id}/profile/calls`, { step: chosen.step, worker: chosen.worker }, this.gone.signal);
      if (key !== this.shownCalls) return;
      this.index = new CallIndex(callsIn(arrays));
      this.calls.box.hidden = false;
      const label = `Calls of step ${arrays.json<{ step: number }>('about')?.step ?? chosen.step} of ${chosen.worker}: ${counted(this.index.count, 'call')} on ${counted(this.index.calls.tracks.length, 'track')} in ${time(this.index.end / 1e6)}`;
      this.calls.show(this.index, memoryIn(arrays), label);
      this.calls.redraw();
      this.element.dataset['openMs'] = String(performance.now() - asked);
      replace(this.legend, ...kindLegend(this.index.calls, this.element));
      const held = arrays.json<{ step: number }>('about')?.step ?? chosen.step;
      this.callNote.textContent = held === chosen.step ? '' : `This file holds the calls of step ${held} alone, which are shown.`;
      this.sayCall(undefined, false);
    } catch (error) {
      if (this.gone.signal.aborted) return;
      this.shownCalls = '';
      this.calls.box.hidden = true;
      this.callNote.textContent = error instanceof SourceError && error.code === 'not found' ? 'The calls of this step are not here. The run itself, shown by trainwarden serve, has them.' : error instanceof Error ? error.message : String(error);
      if (!(error instanceof SourceError)) throw error;
    }
  }

  /** A window that takes a while is drawn when it is wanted. */
  private offer(chosen: RecordedStep, key: string): void {
    this.calls.box.hidden = true;
    replace(this.callNote, h('button', { onclick: () => {
      this.wanted = key;
      this.callNote.textContent = 'Loading …';
      void this.loadCalls();
    } }, `Show the ${counted(chosen.calls, 'call')} of step ${count(chosen.step)}`));
  }

  private async loadFlame(): Promise<void> {
    const of = this.flameOf();
    const key = `${of} ${this.params['of_worker'] ?? ''}`;
    if (key === this.shownFlame) return;
    this.shownFlame = key;
    try {
      const answer = await this.context.source.json<FlameAnswer>(`/runs/${this.context.run.id}/profile/flame`, { of, worker: this.params['of_worker'] }, this.gone.signal);
      if (key !== this.shownFlame) return;
      this.tree = flameTree(answer);
      this.flame.box.hidden = this.tree.parent.length < 2;
      this.flameNote.textContent = this.tree.parent.length < 2 ? (of === 'stacks' ? 'No Python stacks were sampled in the recorded steps.' : 'The recorded steps have no calls.') : '';
      this.flame.show(this.tree, `Flame graph of ${of === 'stacks' ? 'Python stacks' : 'operators'}, ${time(this.tree.total[0]! / 1000)} in all`);
      this.zoomed(0);
    } catch (error) {
      if (this.gone.signal.aborted) return;
      this.shownFlame = '';
      this.flame.box.hidden = true;
      this.flameNote.textContent = error instanceof SourceError && error.code === 'not found' ? `The flame graph is not here. This makes one: trainwarden export ${this.runName} stacks.json --to speedscope` : error instanceof Error ? error.message : String(error);
      if (!(error instanceof SourceError)) throw error;
    }
  }

  // --- saying

  private sayCall(call: number | undefined, aloud: boolean): void {
    if (!this.index) return;
    if (call === undefined) {
      replace(this.callSaid, h('p', { class: 'muted' }, 'Click a call, or walk with the arrows. Drag to move; plus, minus, or the wheel with Ctrl zooms.'));
      return;
    }
    replace(this.callSaid, callTable(this.index, call, (other) => this.calls.choose(other, true)));
    const { names, name, duration } = this.index.calls;
    if (aloud) this.context.announce(`${names[name[call]!]}, ${time(duration[call]! / 1e6)}, own ${time(this.index.ownTime(call) / 1e6)}`);
  }

  private searchCalls(text: string): void {
    const found = this.calls.search(text);
    this.callNote.textContent = text === '' ? '' : `${counted(found, 'name')} of operators ${found === 1 ? 'fits' : 'fit'}`;
  }

  private searchFlame(text: string): void {
    const share = this.flame.search(text);
    this.flameNote.textContent = text === '' ? '' : `${percent(share)} of the time is in what fits`;
  }

  private sayFrame(node: number, aloud: boolean): void {
    this.flameSaid.textContent = this.flame.inWords(node);
    if (aloud) this.context.announce(this.flame.inWords(node));
  }

  private zoomed(node: number): void {
    this.zoom = node;
    this.sayFrame(node, false);
    this.drawFlameList();
  }

  /** What took most in what is enlarged: by its own time, or with its calls. */
  private drawFlameList(): void {
    if (!this.tree) return;
    const by = this.params['flame'] === 'total' ? 'total' : 'self';
    const rows = timesByName(this.tree, this.zoom, by, 10);
    const whole = this.tree.total[this.zoom] || 1;
    const toggle = (value: 'self' | 'total', title: string) => h('button', { 'aria-pressed': by === value ? 'true' : 'false', onclick: () => {
      this.params = { ...this.params, flame: value };
      this.context.change({ flame: value === 'total' ? 'total' : undefined });
      this.drawFlameList();
    } }, title);
    replace(this.flameList, rows.length > 0 && h('details', { open: true }, h('summary', {}, this.zoom === 0 ? 'What took most' : 'What took most in it'),
      h('div', { class: 'toolbar', role: 'group', 'aria-label': 'By' }, toggle('self', 'Own time'), toggle('total', 'With calls')),
      h('div', { class: 'wide' }, h('table', { class: 'table compact' },
        h('thead', {}, h('tr', {}, ...['Name', 'Own', 'With calls', 'Share'].map((head, i) => h('th', { scope: 'col', class: i > 0 ? 'number' : '' }, head)))),
        h('tbody', {}, ...rows.map((row) => h('tr', {}, h('td', { class: 'mono' }, row.name), h('td', { class: 'number' }, time(row.self / 1000)), h('td', { class: 'number' }, time(row.total / 1000)), h('td', { class: 'number' }, percent(row[by] / whole)))))))));
  }
}
