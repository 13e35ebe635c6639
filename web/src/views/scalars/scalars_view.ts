// ScalarsView: chooses series, requests them as wide as the screen, draws, and requests them again when the run has news.
import { idOf } from '../../data/ids';
import { parseOther } from '../../data/link';
import type { Parameters } from '../../data/source';
import { loadFirings, type Firing } from '../../data/firings';
import { pngOf } from '../../draw/canvas';
import { h, replace } from '../../draw/dom';
import { drawn } from '../../draw/drawn';
import { csvOf, fileName } from '../../draw/files';
import { count, short } from '../../draw/numbers';
import { onThemeChange, themeOf } from '../../draw/theme';
import type { KeyHelp, Snapshot, SnapshotKind, View, ViewContext, ViewState } from '../view';
import { placeOf, startOf, stepAt } from './axis';
import type { Chart } from './chart';
import { choose, MOST_SHOWN, type Choice, type Chosen } from './choice';
import { Controls } from './controls';
import * as exports from './exports';
import { legendOf, tableOf } from './legend';
import { stillReading, unreadOutput, type Output } from './reading';
import { extremes, seriesOf, type Series } from '../series';
import { wordsOf, type Words } from './words';

const TABLE_ROWS = 500;
const CHOICES_AGE_MS = 10_000; // tensors come seldom

export class ScalarsView implements View {
  readonly keys: readonly KeyHelp[] = [
    { keys: '+  −', does: 'zoom in, out, around the cursor' },
    { keys: ',  .', does: 'move the stretch shown back, forward' },
    { keys: '0', does: 'the whole series' },
    { keys: 'T', does: 'chart or table' },
  ];

  private readonly controls: Controls;
  private readonly plotBox = h('div', { class: 'plot', tabindex: 0, role: 'img' });
  private readonly note = h('p', { class: 'muted' });
  private readonly below = h('div', { class: 'legend' });
  private chart: Chart | null = null;
  private readonly ready: Promise<void>;
  private readonly observer: ResizeObserver;
  private readonly forgetTheme: () => void;
  private state: ViewState;
  private words: Words;
  private choices: Choice[] = [];
  private choicesMs = -Infinity;
  private output: Output | null | undefined;
  private chosen: Chosen = { shown: [], all: 0, others: 0, fault: undefined };
  private all: Series[] = [];
  private firings: Firing[] = [];
  private hoverStep: number | null = null;
  private asking = false;
  private again = false;
  private readonly gone = new AbortController();

  constructor(
    private readonly element: HTMLElement,
    private readonly context: ViewContext,
    state: ViewState,
  ) {
    this.state = state;
    this.words = wordsOf(state.params);
    this.controls = new Controls(context, () => this.copy(), () => this.zoom(undefined, undefined));
    element.classList.add('scalars');
    replace(element, this.controls.element, this.note, this.plotBox, this.below);
    this.ready = this.loadChart();
    this.observer = new ResizeObserver(() => this.chart?.resize());
    this.observer.observe(this.plotBox);
    this.forgetTheme = onThemeChange(() => this.draw());
    this.controls.show(this.words);
    void this.ask();
  }

  update(state: ViewState): void {
    const before = this.state;
    const question = this.question(this.words);
    const search = this.words.search;
    this.state = state;
    this.words = wordsOf(state.params);
    this.controls.show(this.words);
    const sameLink = before.step === state.step && before.params === state.params;
    const sameQuestion = question === this.question(this.words) && search === this.words.search;
    if (sameLink || !sameQuestion) void this.ask(); // news, or another question
    else this.draw();
  }

  key(event: KeyboardEvent): boolean {
    const middle = this.state.step ?? this.all[0]?.words.last_step ?? 0;
    const [from, to] = this.stretch();
    const width = Math.max(1, to - from);
    switch (event.key) {
      case '+': case '=': this.zoom(middle - width / 4, middle + width / 4); return true;
      case '-': case '−': this.zoom(from - width / 2, to + width / 2); return true;
      case ',': this.zoom(from - width / 4, to - width / 4); return true;
      case '.': this.zoom(from + width / 4, to + width / 4); return true;
      case '0': this.zoom(undefined, undefined); return true;
      case 't': case 'T': this.context.change({ table: this.words.table ? undefined : '1' }); return true;
      default: return false;
    }
  }

  async snapshot(kind: SnapshotKind): Promise<Snapshot | undefined> {
    const shown = this.visible();
    const run = this.context.run.name;
    if (shown.length === 0) return undefined;
    switch (kind) {
      case 'svg': return exports.svg(run, shown, this.words.y);
      case 'csv': return exports.csv(run, shown);
      case 'npy': return exports.npy(run, shown[0]!);
      case 'png': {
        const canvas = this.chart?.canvas;
        return canvas && { fileName: `${fileName(run, 'scalars')}.png`, data: await pngOf(this.onGround(canvas)) };
      }
    }
  }

  destroy(): void {
    this.gone.abort();
    this.observer.disconnect();
    this.forgetTheme();
    this.chart?.destroy();
    this.element.classList.remove('scalars');
  }

  // --- asking

  private question(words: Words): string {
    return JSON.stringify([this.chosen.shown.map(({ id }) => id), words.of, words.mode, words.from, words.to, words.pins, this.state.params['b']]);
  }

  /** What draws is larger than all the rest: it comes while the numbers are on their way. */
  private async loadChart(): Promise<void> {
    const { Chart } = await import('./chart');
    if (this.gone.signal.aborted) return;
    this.chart = new Chart(this.plotBox, {
      hover: (place) => this.hover(place),
      pick: (place) => this.context.seek(this.stepAt(place) ?? null),
      zoom: (from, to) => this.zoom(this.stepAt(from), this.stepAt(to)),
    });
  }

  /** One question at a time; what changes meanwhile makes one more. */
  private async ask(): Promise<void> {
    if (this.asking) {
      this.again = true;
      return;
    }
    this.asking = true;
    do {
      this.again = false;
      try {
        await Promise.all([this.askOnce(), this.ready]);
        this.draw();
      } catch (error) {
        if (!this.gone.signal.aborted) replace(this.note, h('span', { class: 'bad', role: 'alert' }, error instanceof Error ? error.message : String(error)));
      }
    } while (this.again && !this.gone.signal.aborted);
    this.asking = false;
  }

  private async askOnce(): Promise<void> {
    const path = `/runs/${this.context.run.id}/series`;
    const signal = this.gone.signal;
    if (performance.now() - this.choicesMs > CHOICES_AGE_MS || this.chosen.shown.length === 0) {
      this.choices = (await this.context.source.json<{ tensors: Choice[] }>(`${path}/choices`, {}, signal)).tensors;
      this.choicesMs = performance.now();
      void this.askFirings();
    }
    const { search, pins, of, mode, from, to } = this.words;
    this.chosen = choose(this.choices, search, pins);
    if (this.chosen.shown.length === 0) {
      this.all = [];
      return;
    }
    const buckets = Math.min(4096, Math.max(200, this.plotBox.clientWidth));
    const tensors = this.chosen.shown.map(({ id }) => id).join(',');
    const answer = await this.context.source.arrays(path, { tensors, of, mode, from, to, buckets }, signal);
    this.all = seriesOf(answer);
    this.output = answer.json<Output | null>('output');
    const other = parseOther(this.state.params['b'])?.run;
    if (other) this.all.push(...(await this.askOther(other, { of, mode, from, to, buckets })));
    if (this.all.some(({ words }) => words.left > 0)) setTimeout(() => void this.ask(), 50);
  }

  /** The same series of the run that is compared, as far as it has them. */
  private async askOther(run: string, parameters: Parameters): Promise<Series[]> {
    const path = `/runs/${idOf(run)}/series`;
    const signal = this.gone.signal;
    const { tensors } = await this.context.source.json<{ tensors: Choice[] }>(`${path}/choices`, {}, signal);
    const there = new Set(tensors.map(({ id }) => id));
    const shared = this.chosen.shown.filter(({ id }) => there.has(id));
    if (shared.length === 0) return [];
    const series = seriesOf(await this.context.source.arrays(path, { ...parameters, tensors: shared.map(({ id }) => id).join(',') }, signal));
    return series.map((each) => {
      const like = this.chosen.shown.findIndex(({ id }) => id === each.words.id);
      return { ...each, words: { ...each.words, id: `${each.words.id}@b` }, other: { run, like } };
    });
  }

  private async askFirings(): Promise<void> {
    try {
      this.firings = (await loadFirings(this.context.source, this.context.run.id)).filter(({ severity }) => severity !== 'info');
      if (this.firings.length > 0) this.draw();
    } catch {
      this.firings = []; // a source without rules has no marks; the view of rules says why
    }
  }

  // --- showing

  private visible(): Series[] {
    return this.all.filter(({ words }) => !this.words.hidden.has(words.id));
  }

  private stretch(): [from: number, to: number] {
    const first = Math.min(...this.all.map(({ words }) => words.first_step));
    const last = Math.max(...this.all.map(({ words }) => words.last_step));
    return [this.words.from ?? first, this.words.to ?? last];
  }

  private zoom(from: number | undefined, to: number | undefined): void {
    const text = (step: number | undefined) => (step === undefined ? undefined : String(Math.round(step)));
    const whole = from === undefined || to === undefined || to - from < 1;
    this.context.change({ from: whole ? undefined : text(from), to: whole ? undefined : text(to) });
    this.context.announce(whole ? 'The whole series' : `Steps ${text(from)} to ${text(to)}`);
  }

  private stepAt(place: number): number | undefined {
    return stepAt(this.all, this.words.axis, startOf(this.all), place);
  }

  private hover(place: number | null): void {
    const step = place === null ? null : (this.stepAt(place) ?? null);
    if (step === this.hoverStep) return;
    this.hoverStep = step;
    this.drawBelow();
  }

  private draw(): void {
    const { shown, all, others, fault } = this.chosen;
    const cut = all > shown.length ? `${shown.length} of ${count(all)} series are shown (at most ${MOST_SHOWN}); narrow the search. ` : '';
    const more = !this.words.search && others > 0 ? `${count(others)} more series: search for a name, or for a collection such as scalars or metrics. ` : '';
    const hint = fault ? `“${this.words.search}” is no regular expression (${fault}); it is searched as it stands. ` : '';
    const nothing = shown.length > 0 ? '' : this.words.search ? 'No tensor fits the search. ' : 'This run has no numbers yet. ';
    const unseen = this.words.y === 'log' && this.all.some(({ words }) => !(extremes(words).min > 0)) ? 'Zero and negative numbers have no place on a logarithmic axis; symlog shows them. ' : '';
    this.note.textContent = hint + nothing + cut + more + unseen + stillReading(this.all) + unreadOutput(this.output);
    this.note.hidden = this.note.textContent === '';
    this.plotBox.hidden = this.words.table || shown.length === 0;
    this.plotBox.setAttribute('aria-label', this.summary());
    if (!this.plotBox.hidden) {
      this.chart?.show(this.all, { ...this.words, step: this.state.step, firings: this.firings });
      const start = startOf(this.all);
      this.plotBox.dataset['cursor'] = String(this.state.step === null ? '' : (placeOf(this.all, this.words.axis, start, this.state.step) ?? ''));
    }
    this.drawBelow();
    const last = Math.max(-1, ...this.all.map(({ words }) => words.last_step));
    drawn(this.element, last < 0 ? null : last);
  }

  private drawBelow(): void {
    const step = this.hoverStep ?? this.state.step ?? Math.max(-1, ...this.all.map(({ words }) => words.last_step));
    const { hidden, pins } = this.words;
    const legend = legendOf(this.all, themeOf(this.element).dark, hidden, pins, step, {
      hide: (id) => this.context.change({ hide: toggled([...hidden], id) }),
      pin: (name) => this.context.change({ pin: toggled(pins, name) }),
    });
    const focused = this.below.contains(document.activeElement) ? document.activeElement?.getAttribute('data-focus') : null;
    replace(this.below, this.words.table ? tableOf(this.visible(), TABLE_ROWS) : legend);
    if (focused) this.below.querySelector<HTMLElement>(`[data-focus="${focused}"]`)?.focus();
  }

  private summary(): string {
    const parts = this.visible().slice(0, 6).map(({ words }) => {
      const { min, max, last } = extremes(words);
      const odd = words.nan + words.positive_inf + words.negative_inf;
      return `${words.name}: ${count(words.count)} numbers from ${short(min)} to ${short(max)}, the last ${short(last)}${odd > 0 ? `, ${count(odd)} not finite` : ''}`;
    });
    return `Chart of ${this.all.length} series over steps. ${parts.join('. ')}`;
  }

  /** Of the stretch and the series that are shown. */
  private copy(): void {
    void csvOf(exports.csvRows(this.context.run.name, this.visible()))
      .text()
      .then((text) => navigator.clipboard.writeText(text))
      .then(
        () => this.context.announce('Copied as CSV'),
        () => this.context.announce('The browser refused to copy; Export has CSV too'),
      );
  }

  private onGround(picture: HTMLCanvasElement): HTMLCanvasElement {
    const canvas = document.createElement('canvas');
    canvas.width = picture.width;
    canvas.height = picture.height;
    const context = canvas.getContext('2d')!;
    context.fillStyle = themeOf(this.element).ground;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(picture, 0, 0);
    return canvas;
  }
}

function toggled(list: readonly string[], item: string): string | undefined {
  const next = list.includes(item) ? list.filter((each) => each !== item) : [...list, item];
  return next.length === 0 ? undefined : next.join('\n');
}
