// ScalarsView: numbers over steps, as panels or in one large chart, asked for anew when the run has news.
import { parseOther } from '../../data/link';
import type { Firing } from '../../data/firings';
import { h, replace } from '../../draw/dom';
import { drawerOf } from '../../draw/drawer';
import { drawn } from '../../draw/drawn';
import { csvOf } from '../../draw/files';
import { count } from '../../draw/numbers';
import { onThemeChange } from '../../draw/theme';
import type { KeyHelp, Snapshot, SnapshotKind, View, ViewContext, ViewState } from '../view';
import { choose, MOST_SHOWN, type Choice } from './choice';
import { Controls } from './controls';
import * as exports from './exports';
import { fewerAtTheEnd, groupSeries } from './group_mean';
import { groupKeys, groupsOf, type RunGroup } from '../run_groups';
import { SeriesFeed, type Question } from './feed';
import { lookOf, OneChart, type DisplayEvents } from './one_chart';
import { byChoice, PanelGrid } from './panel_grid';
import { sectionsOf, type Panel } from './panels';
import { stillReading, unreadOutput } from './reading';
import { RunsBar } from './runs_bar';
import { extremes, type Series } from '../series';
import { wordsOf, type Words } from './words';

const MOST_BUCKETS = 12_000; // of one quantity, of all runs together

export class ScalarsView implements View {
  readonly keys: readonly KeyHelp[] = [
    { keys: '+  −', does: 'zoom in, out, around the cursor' },
    { keys: ',  .', does: 'move the stretch shown back, forward' },
    { keys: '0', does: 'the whole series' },
    { keys: 'T', does: 'chart or table' },
    { keys: 'Esc', does: 'from a large panel to all panels' },
  ];

  private readonly controls: Controls;
  private readonly note = h('p', { class: 'muted' });
  private readonly runsBar = new RunsBar((params) => this.context.change(params), (place) => {
    this.one?.emphasise(place);
    this.grid?.emphasise(place);
  });
  private readonly box = h('div', { class: 'display' });
  private readonly forgetTheme: () => void;
  private readonly gone = new AbortController();
  private readonly feed: SeriesFeed;
  private one: OneChart | null = null;
  private grid: PanelGrid | null = null;
  private state: ViewState;
  private words: Words;
  private cut = ''; // what of the choices is not shown, in words
  private all: Series[] = [];
  private ofRuns: Series[] = []; // as they were answered, a line for each run
  private groups: RunGroup[] | null = null;
  private firings: Firing[] = [];
  private asking = false;
  private again = false;

  constructor(
    private readonly element: HTMLElement,
    private readonly context: ViewContext,
    state: ViewState,
  ) {
    this.state = state;
    this.words = wordsOf(state.params);
    this.feed = new SeriesFeed(context.source, context.run.id, this.gone.signal);
    this.controls = new Controls(context, () => this.copy(), () => this.zoom(undefined, undefined));
    element.classList.add('scalars');
    const controls = drawerOf('Search, axes, smoothing', this.controls.element, this.gone.signal);
    replace(element, h('div', { class: 'scalar-controls' }, this.controls.back, controls), this.runsBar.element, this.note, this.box);
    this.forgetTheme = onThemeChange(() => this.draw());
    this.controls.show(this.words);
    void this.ask();
  }

  update(state: ViewState): void {
    const before = this.state;
    const question = this.question();
    this.state = state;
    this.words = wordsOf(state.params);
    this.controls.show(this.words);
    const sameLink = before.step === state.step && before.params === state.params;
    if (sameLink || question !== this.question()) void this.ask(); // news, or another question
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
      case 'Escape':
        if (this.words.panel !== undefined) this.context.change({ panel: undefined });
        return true;
      default: return false;
    }
  }

  async snapshot(kind: SnapshotKind): Promise<Snapshot | undefined> {
    const shown = this.all.filter(({ words }) => !this.words.hidden.has(words.id));
    const run = this.context.run.name;
    if (shown.length === 0) return undefined;
    switch (kind) {
      case 'svg': return exports.svg(run, this.pictures(shown), this.words.y);
      case 'png': return exports.png(run, this.pictures(shown), this.words.y);
      case 'csv': return exports.csv(run, shown);
      case 'npy': return exports.npy(run, shown[0]!);
    }
  }

  destroy(): void {
    this.gone.abort();
    this.forgetTheme();
    this.one?.destroy();
    this.grid?.destroy();
    this.element.classList.remove('scalars');
  }

  // --- asking

  /** What an answer depends on. */
  private question(): string {
    const { search, of, mode, from, to, pins, panel, together, table, open, shut, runs } = this.words;
    return JSON.stringify([search, of, mode, from, to, pins, panel, together || table, [...open], [...shut], runs, this.state.params['b']]); // grouping needs no answer
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
        await this.askOnce();
        await this.draw();
      } catch (error) {
        if (!this.gone.signal.aborted) {
          replace(this.note, h('span', { class: 'bad', role: 'alert' }, error instanceof Error ? error.message : String(error)));
          this.note.hidden = false;
        }
      }
    } while (this.again && !this.gone.signal.aborted);
    this.asking = false;
  }

  private async askOnce(): Promise<void> {
    if (await this.feed.look()) void this.askFirings();
    const ids = this.words.panel !== undefined || this.words.together || this.words.table ? this.idsOfOneChart() : this.idsOfPanels();
    const { of, mode, from, to } = this.words;
    const width = this.one?.width ?? this.grid?.width ?? 0;
    const question: Question = { of, mode, from, to, buckets: bucketsFor(width, 1 + this.others().length) };
    const series = ids.length === 0 ? [] : await this.feed.series(ids, question);
    if (this.words.runs.length > 0) await this.feed.lookAtRuns();
    this.ofRuns = [...series, ...(ids.length === 0 ? [] : await this.feed.seriesOfOthers(this.others(), ids, question))];
    if (this.ofRuns.some(({ words }) => words.left > 0)) setTimeout(() => void this.ask(), 50);
  }

  /** Runs that are drawn over this one. */
  private others(): string[] {
    const compared = parseOther(this.state.params['b'])?.run;
    return [...new Set([...this.words.runs, ...(compared ? [compared] : [])])].filter((run) => run !== this.context.run.name);
  }

  private idsOfOneChart(): string[] {
    this.grid?.destroy();
    this.grid = null;
    this.one ??= new OneChart(this.box, this.events());
    const chosen = this.words.panel === undefined ? choose(this.feed.choices, this.words.search, this.words.pins) : this.choicesOfPanel(this.words.panel);
    const { shown, all, fault } = chosen;
    this.cut = (all > shown.length ? `${shown.length} of ${count(all)} series are shown (at most ${MOST_SHOWN}); narrow the search. ` : '') + faultText(fault, this.words.search);
    return shown.map(({ id }) => id);
  }

  private choicesOfPanel(key: string): ReturnType<typeof choose> {
    const { sections } = sectionsOf(this.feed.choices, '', []);
    const panel = sections.flatMap(({ panels }) => panels).find((each) => each.key === key);
    const shown: readonly Choice[] = panel?.choices ?? this.feed.choices.filter(({ name }) => name === key);
    return { shown: shown.slice(0, MOST_SHOWN), all: shown.length, others: 0, fault: undefined };
  }

  private idsOfPanels(): string[] {
    this.one?.destroy();
    this.one = null;
    this.grid ??= new PanelGrid(this.box, { ...this.events(), enlarge: (panel) => this.enlarge(panel), seen: () => void this.ask() });
    const { sections, fault } = sectionsOf(this.feed.choices, this.words.search, this.words.pins);
    this.cut = faultText(fault, this.words.search);
    this.grid.layOut(sections, this.words);
    return this.grid.wanted();
  }

  private async askFirings(): Promise<void> {
    try {
      this.firings = (await this.context.firings()).filter(({ severity }) => severity !== 'info');
      if (this.firings.length > 0) void this.draw();
    } catch {
      this.firings = []; // a source without rules has no marks; the view of rules says why
    }
  }

  // --- showing

  private events(): DisplayEvents {
    return {
      change: (params) => this.context.change(params),
      pick: (step) => this.context.seek(step),
      zoom: (from, to) => this.zoom(from, to),
    };
  }

  private enlarge(panel: Panel): void {
    this.context.change({ panel: panel.key });
    this.context.announce(`${panel.title}, large`);
  }

  private stretch(): [from: number, to: number] {
    const first = Math.min(...this.all.map(({ words }) => words.first_step));
    const last = Math.max(...this.all.map(({ words }) => words.last_step));
    return [this.words.from ?? first, this.words.to ?? last];
  }

  private zoom(from: number | undefined, to: number | undefined): void {
    const text = (step: number | undefined) => (step === undefined ? undefined : String(Math.round(step)));
    const whole = from === undefined || to === undefined || to - from < 1;
    if (whole && this.words.from === undefined && this.words.to === undefined) return;
    this.context.change({ from: whole ? undefined : text(from), to: whole ? undefined : text(to) });
    this.context.announce(whole ? 'The whole series' : `Steps ${text(from)} to ${text(to)}`);
  }

  /** What is drawn of what was answered: a line for each run, or for each group of them. */
  private group(): void {
    const { name } = this.context.run;
    const runs = this.feed.labelled([name, ...this.words.runs]);
    this.groups = groupsOf(runs, this.words.group);
    this.all = this.groups ? groupSeries(this.ofRuns, name, this.groups, this.words.spread) : this.ofRuns;
    this.runsBar.show({ own: name, keys: this.words.runs.length > 0 ? groupKeys(runs, this.words.group) : [], groups: this.groups }, this.words);
  }

  private async draw(): Promise<void> {
    this.group();
    const nothing = this.feed.choices.length === 0 ? 'This run has no numbers yet. ' : this.nothingFound();
    const unseen = this.words.y === 'log' && this.all.some(({ words }) => !(extremes(words).min > 0)) ? 'Zero and negative numbers have no place on a logarithmic axis; symlog shows them. ' : '';
    this.note.textContent = nothing + this.cut + unseen + fewerAtTheEnd(this.all) + stillReading(this.ofRuns) + unreadOutput(this.feed.output);
    this.note.hidden = this.note.textContent === '';
    const look = (all: readonly Series[]) => lookOf(all, this.words, this.feed.train, this.state.step, this.firings);
    await this.one?.show(this.all, look(this.all), this.words);
    this.grid?.show(byChoice(this.feed.choices, this.all), look);
    const last = Math.max(-1, ...this.all.map(({ words }) => words.last_step));
    if (this.all.length > 0 || nothing !== '') drawn(this.element, last < 0 ? null : last);
  }

  private nothingFound(): string {
    if (this.one) return this.all.length > 0 ? '' : 'No tensor fits. ';
    return sectionsOf(this.feed.choices, this.words.search, []).sections.length > 0 ? '' : 'No tensor fits the search. ';
  }

  /** What a file shows: a picture of one chart, or of each panel. */
  private pictures(shown: readonly Series[]): exports.Picture[] {
    const colourBy = this.words.runs.length > 0 ? 'run' : 'series';
    if (this.one) return [{ title: this.words.panel ?? 'Scalars', all: shown, colourBy }];
    const series = byChoice(this.feed.choices, shown);
    const { sections } = sectionsOf(this.feed.choices, this.words.search, this.words.pins);
    return sections.flatMap(({ panels }) => panels)
      .map(({ title, choices }) => ({ title, all: choices.flatMap(({ id }) => series.get(id) ?? []), colourBy }) as const)
      .filter(({ all }) => all.length > 0);
  }

  /** Of the stretch and the series that are shown. */
  private copy(): void {
    const shown = this.all.filter(({ words }) => !this.words.hidden.has(words.id));
    void csvOf(exports.csvRows(this.context.run.name, shown))
      .text()
      .then((text) => navigator.clipboard.writeText(text))
      .then(
        () => this.context.announce('Copied as CSV'),
        () => this.context.announce('The browser refused to copy; Export has CSV too'),
      );
  }
}

/** A least and a largest number for each pixel; of many runs for some pixels together, which is drawn in time. */
function bucketsFor(width: number, runs: number): number {
  return Math.min(4096, Math.max(200, Math.min(width, Math.floor(MOST_BUCKETS / runs))));
}

function faultText(fault: string | undefined, search: string): string {
  return fault ? `“${search}” is no regular expression (${fault}); it is searched as it stands. ` : '';
}
