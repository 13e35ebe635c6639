// LayersView: one number of all layers over the steps of a run, as a heat map that fills and grows by itself.
import { h, replace } from '../../draw/dom';
import { drawerOf } from '../../draw/drawer';
import { drawn } from '../../draw/drawn';
import { csvOf, fileName } from '../../draw/files';
import { count } from '../../draw/numbers';
import type { KeyHelp, Snapshot, SnapshotKind, View, ViewContext, ViewState } from '../view';

import { askLayers, type LayerMap, type LayerQuestion } from './api';
import { rangeOf } from './colour_range';
import { FinerColumns } from './finer_columns';
import { LayerControls } from './layer_controls';
import { LayerHeatMap } from './layer_heat_map';
import { csvRows, tableOf } from './layer_table';
import { ALL_STEPS, type StepStretch } from './map_window';
import { captureLine, firstKept, type Quantity, QUANTITIES, quantityOf } from './quantities';
import { type Cell, firstOdd, oddSummary, readText, stepOfCell } from './words';

const UNREAD_MS = 20; // until what is left is asked for
const MOST_COLUMNS = 2048; // that the server has
const NEWS_MS = 500; // at most one look at a growing run in this time, or in five times what a look takes

export class LayersView implements View {
  readonly keys: readonly KeyHelp[] = [
    { keys: '↑ ↓ ← →', does: 'in the map: from layer to layer, from column to column; with Shift ten at once' },
    { keys: 'Enter', does: 'in the map: open the tensor at that step' },
    { keys: 'Esc', does: 'in the map: point at nothing' },
    { keys: '+  −', does: 'zoom in, out' },
    { keys: ',  .', does: 'move the stretch shown back, forward' },
    { keys: '0', does: 'all steps' },
  ];
  private readonly controls: LayerControls;
  private readonly heat: LayerHeatMap;
  private readonly fault = h('p', { class: 'bad', role: 'alert', hidden: true });
  private readonly meaning = h('p', { class: 'muted ly-meaning' });
  private readonly note = h('p', { class: 'muted ly-note', role: 'status', hidden: true });
  private readonly odd = h('p', { class: 'bad ly-odd', hidden: true });
  private readonly missing = h('div', { class: 'empty ly-missing', hidden: true });
  private readonly table = h('details', { ontoggle: () => this.showTable() }, h('summary', {}, 'As table'), h('div', { class: 'ly-table', tabindex: 0, role: 'region', 'aria-label': 'Layers as table' }));
  private readonly whole: HTMLElement;
  private readonly gone = new AbortController();
  private readonly finer: FinerColumns;
  private wholeRun: LayerMap | null = null;
  private map: LayerMap | null = null; // that is shown: of the whole run, with finer columns where it is zoomed
  private quantity: Quantity = QUANTITIES[0]!;
  private asking: AbortController | null = null;
  private asked = ''; // the question that is answered or being asked
  private instead: Pick<LayerQuestion, 'quantity' | 'collection'> | undefined; // what is shown while nobody chooses
  private takes = 0; // milliseconds of the last look
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly element: HTMLElement,
    private readonly context: ViewContext,
    private state: ViewState,
  ) {
    this.controls = new LayerControls(context, () => this.zoom(ALL_STEPS));
    this.heat = new LayerHeatMap({
      pick: (cell) => this.pick(cell),
      zoom: (stretch) => this.zoom(stretch),
      announce: (text) => context.announce(text),
    });
    this.finer = new FinerColumns((question, signal) => askLayers(context.source, context.run.id, question, signal), () => this.draw());
    this.whole = h('div', { hidden: true }, this.odd, this.heat.element, this.table);
    element.classList.add('layers-view');
    replace(element, drawerOf('Quantity, mode, colours', this.controls.element, this.gone.signal), this.meaning, this.fault, this.note, this.missing, this.whole);
    void this.ask();
  }

  update(state: ViewState): void {
    const before = this.state;
    this.state = state;
    if (JSON.stringify(this.question()) !== this.asked) return void this.ask();
    if (before.step === state.step && before.params === state.params) return this.later(Math.max(NEWS_MS, 5 * this.takes));
    if (before.params !== state.params) this.draw();
    else this.heat.moveCursor(state.step);
  }

  steps(): readonly number[] {
    return this.map ? Array.from(this.map.firstStep) : [];
  }

  key(event: KeyboardEvent): boolean {
    if (!this.map || this.whole.hidden) return false;
    switch (event.key) {
      case '+': case '=': this.heat.move('in'); return true;
      case '-': case '−': this.heat.move('out'); return true;
      case ',': this.heat.move('back'); return true;
      case '.': this.heat.move('forward'); return true;
      case '0': this.zoom(ALL_STEPS); return true;
      default: return false;
    }
  }

  async snapshot(kind: SnapshotKind): Promise<Snapshot | undefined> {
    if (!this.map || this.whole.hidden) return undefined;
    const title = `${this.quantity.title} of ${this.map.about.collection}, ${this.context.run.name}`;
    const data = kind === 'csv' ? csvOf(csvRows(this.map)) : kind === 'npy' ? undefined : await this.heat.file(kind, title);
    return data && { fileName: `${fileName(this.context.run.name, 'layers', this.quantity.id)}.${kind}`, data };
  }

  destroy(): void {
    clearTimeout(this.timer);
    this.gone.abort();
    this.asking?.abort();
    this.finer.stop();
    this.heat.destroy();
    this.element.classList.remove('layers-view');
    replace(this.element);
  }

  // --- asking

  private question(): LayerQuestion {
    const { quantity, of, mode, worker } = this.state.params;
    const usual = { quantity: (quantityOf(quantity) ?? QUANTITIES[0]!).id, collection: of };
    const room = Math.min(MOST_COLUMNS, Math.max(128, 128 * Math.ceil(this.heat.plotWidth / 128)));
    return { ...((quantity === undefined && this.instead) || usual), mode, worker, columns: this.isZoomed() ? MOST_COLUMNS : room };
  }

  private isZoomed(): boolean {
    const { from, to } = this.stretch();
    return from !== undefined || to !== undefined;
  }

  private stretch(): StepStretch {
    const { from, to } = this.state.params;
    return { from: wholeNumber(from), to: wholeNumber(to) };
  }

  private zoom({ from, to }: StepStretch): void {
    const before = this.stretch();
    if (from === before.from && to === before.to) return;
    this.context.change({ from: from?.toString(), to: to?.toString() });
    this.context.announce(`Shown are ${stepsInWords({ from, to })}`);
  }

  private async ask(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.asking?.abort();
    const asking = (this.asking = new AbortController());
    const question = this.question();
    this.asked = JSON.stringify(question);
    const since = performance.now();
    try {
      const map = await askLayers(this.context.source, this.context.run.id, question, asking.signal);
      this.takes = performance.now() - since;
      this.asking = null;
      if (this.findsInstead(map)) return await this.ask();
      this.take(map);
    } catch (error) {
      if (asking.signal.aborted) return; // another question was put, or the view is gone
      this.asking = null;
      this.fail(error);
    }
  }

  /** Where nobody chose and the run does not have it: what it has. */
  private findsInstead(map: LayerMap): boolean {
    if (map.about.steps > 0 || this.instead || this.state.params['quantity'] !== undefined) return false;
    const found = firstKept(map.kept);
    // The usual collection is not named: a saved page has its answers without.
    if (found) this.instead = { quantity: found.quantity.id, collection: found.collection === found.quantity.collection ? undefined : found.collection };
    return found !== undefined;
  }

  private take(map: LayerMap): void {
    this.wholeRun = map;
    this.quantity = quantityOf(map.about.quantity) ?? QUANTITIES[0]!;
    this.fault.hidden = true;
    this.draw();
    if (map.about.left > 0) this.later(UNREAD_MS);
  }

  private later(pause: number): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      if (document.visibilityState === 'hidden' || this.asking) return this.later(pause);
      void this.ask();
    }, pause);
  }

  private fail(error: unknown): void {
    this.asked = '';
    this.fault.hidden = false;
    replace(this.fault, (error as Error).message);
  }

  // --- showing

  private draw(): void {
    const { wholeRun, quantity } = this;
    if (!wholeRun) return;
    const map = (this.map = this.finer.into(wholeRun, this.question(), this.stretch()));
    this.controls.show(quantity, map, this.state.params);
    replace(this.meaning, `${quantity.meaning} Each cell is the Max of its steps.`);
    const isThere = map.about.steps > 0 && map.layers.length > 0;
    this.whole.hidden = !isThere;
    this.missing.hidden = isThere;
    if (!isThere) replace(this.missing, ...this.missingWords(map));
    else this.drawMap(map, quantity);
    const note = readText(map);
    this.note.hidden = note === '';
    if (this.note.textContent !== note) replace(this.note, note);
    drawn(this.element, map.about.steps > 0 ? map.lastStep.at(-1)! : null);
  }

  private drawMap(map: LayerMap, quantity: Quantity): void {
    const range = rangeOf(quantity, map.max, !quantity.isShare && this.state.params['colours'] !== 'linear');
    this.heat.show(map, quantity, range, this.state.step, this.stretch());
    const odd = oddSummary(map);
    this.odd.hidden = odd === '';
    const first = firstOdd(map);
    if (first) replace(this.odd, `${odd}. `, h('a', { href: this.context.link('tensors', { tensor: map.layers[first.row]!.name }, first.step) }, 'Open it there'));
    this.showTable();
  }

  private showTable(): void {
    if (!this.table.open || !this.map) return;
    replace(this.table.lastElementChild!, tableOf(this.map, this.quantity));
  }

  private missingWords(map: LayerMap): HTMLElement[] {
    const { quantity } = this;
    const isKept = map.layers.length > 0;
    const collection = map.about.collection;
    const why = isKept
      ? `The run has the tensors of ${collection}, but not ${quantity.needsValues ? 'their values, which this number needs' : 'numbers of them'}${this.state.params['mode'] === undefined ? '' : ', or not in this mode'}.`
      : `The run has no tensors of the collection ${collection}.`;
    return [h('h2', {}, `No ${quantity.title.toLowerCase()} in this run`), h('p', {}, why), h('p', {}, 'This captures them at each tenth step:'), h('code', {}, captureLine(quantity, collection))];
  }

  private pick(cell: Cell): void {
    const map = this.map!;
    this.context.open('tensors', { tensor: map.layers[cell.row]!.name }, stepOfCell(map, cell));
  }
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function stepsInWords({ from, to }: StepStretch): string {
  if (from === undefined && to === undefined) return 'all steps';
  return `steps ${from === undefined ? 'up' : count(from)} to ${to === undefined ? 'the newest' : count(to)}`;
}
