// AttentionView: attention in one of several modes. Finds out which layers, steps and batch items there are, and hands
// the moment that the link means to the pane of the mode.
import { h, replace } from '../../draw/dom';
import { drawn } from '../../draw/drawn';
import { count } from '../../draw/numbers';
import { Pace } from '../../data/pace';
import { SourceError } from '../../data/source';
import { StepRanges } from '../../data/step_ranges';
import { shown as shownText } from '../../data/text';
import type { KeyHelp, Snapshot, SnapshotKind, View, ViewContext, ViewState } from '../view';

import { Addresses, type Listing, type StepListing } from './api';
import { Comparison } from './comparison';
import { type Chooser, button, chooser } from './controls';
import { Loader } from './loader';
import { Latest, type MakePane, type Moment, type Pane, type Shown } from './pane';
import { type AttentionMode, MODES, type Selection, selectionOf, wordOf } from './selection';

/** Which modes there are and where their panes come from. */
export type Panes = Partial<Record<AttentionMode, () => Promise<MakePane>>>;

const TITLES: Record<AttentionMode, [title: string, hint: string]> = {
  model: ['Model', 'all heads of all layers at a glance'],
  head: ['Head', 'links between tokens'],
  arcs: ['Arcs', 'links over the text as one line'],
  matrix: ['Matrix', 'queries by keys, also of long texts'],
  text: ['Text', 'the text, marked by what a token looks at'],
  neuron: ['Neuron', 'how query and key come to a weight'],
  mapping: ['Mapping', 'which tensors are queries, keys, weights and tokens'],
};

/** At most one look at a growing run in this time. */
const NEWS_MS = 250;

const WARNING = 'Attention shows where a head looks. By itself it does not explain why the model answers as it does.';

export class AttentionView implements View {
  readonly keys: readonly KeyHelp[] = [
    { keys: '↑ ↓', does: 'layer above, below' },
    { keys: ', .', does: 'head before, after' },
    { keys: 'Esc', does: 'lets go of pinned tokens' },
  ];
  private readonly loader: Loader;
  private readonly addresses: Addresses;
  private readonly tabs = h('div', { class: 'at-modes', role: 'group', 'aria-label': 'What of attention is shown' });
  private readonly layers: Chooser;
  private readonly items: Chooser;
  private readonly status = h('span', { class: 'at-status' });
  private readonly note = h('p', {});
  private readonly assumed = h('details', { class: 'at-details at-assumed', hidden: true }, h('summary', {}, 'What was assumed'), this.note);
  private readonly problem = h('div', { class: 'at-problem', role: 'alert', hidden: true });
  private readonly host = h('div', { class: 'at-host' });
  private readonly asked = new Latest();
  private readonly made = new Latest();
  private readonly comparison: Comparison;
  private readonly news = new Pace(NEWS_MS, () => this.ask());
  private readonly forget: () => void;
  private listing: Listing | null = null;
  private attentionSteps = new StepRanges([]);
  private state: ViewState;
  private selection: Selection | null = null;
  private pane: Pane | null = null;
  private paneMode: AttentionMode | null = null;
  private given = ''; // what the pane was last given to show
  private isReference = false; // the step that is shown is the one that others are compared with
  private asking = false;
  private askAgain = false;

  constructor(
    private readonly element: HTMLElement, private readonly context: ViewContext, state: ViewState, private readonly panes: Panes,
  ) {
    this.state = state;
    this.loader = new Loader(context.source);
    this.addresses = new Addresses(context.run.id);
    this.comparison = new Comparison(context.source, this.addresses, () => this.show(), (error) => this.fail(error));
    this.layers = chooser('Layer', [], (layer) => this.change({ layer }));
    this.items = chooser('Batch item', [['0', '0']], (item) => this.change({ item: wordOf(item, '0'), pins: undefined, query: undefined, key: undefined }));
    element.classList.add('attention');
    element.append(
      h('div', { class: 'at-bar' }, this.tabs, this.layers.element, this.items.element, this.status),
      this.assumed, this.problem, this.host, h('p', { class: 'at-warning' }, WARNING),
    );
    this.forget = context.source.notices((notice) => {
      if (notice.run === context.run.id && notice.kind !== 'runs') this.news.ask();
    });
    element.addEventListener('keydown', this.onKey);
    this.ask();
  }

  update(state: ViewState): void {
    this.state = state;
    if (this.listing) this.show();
  }

  key(event: KeyboardEvent): boolean {
    if (this.pane?.key?.(event)) return true;
    switch (event.key) {
      case 'ArrowUp': return this.moveLayer(-1);
      case 'ArrowDown': return this.moveLayer(1);
      case ',': return this.moveHead(-1);
      case '.': return this.moveHead(1);
      default: return false;
    }
  }

  async snapshot(kind: SnapshotKind): Promise<Snapshot | undefined> {
    return this.pane?.snapshot(kind);
  }

  /** Of the first head that is chosen: the server draws it. */
  async film(): Promise<Snapshot | undefined> {
    if (!this.selection) return undefined;
    const { layer, heads, item, first } = this.selection;
    const { path, parameters } = this.addresses.film(layer, heads[0]!, item, first);
    const { name, data } = await this.context.source.file(path, parameters);
    return { fileName: name, data };
  }

  async settled(): Promise<void> {
    await this.loader.idle();
    // What has come is drawn at the next frame.
    for (let frame = 0; frame < 2; frame++) await new Promise((done) => requestAnimationFrame(done));
  }

  steps(): readonly number[] {
    return Array.from(this.attentionSteps.list());
  }

  destroy(): void {
    this.forget();
    this.news.stop();
    this.asked.drop();
    this.made.drop();
    this.loader.giveUpAllBut([]);
    this.element.removeEventListener('keydown', this.onKey);
    this.pane?.destroy();
  }

  /** Escape is the page's too, which takes the focus away: here it lets go of tokens first. */
  private readonly onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && this.pane?.key?.(event)) event.preventDefault();
  };

  private change(params: Record<string, string | undefined>): void {
    this.context.change(params);
  }

  /** Asks which layers and steps there are: one question at a time; news that come meanwhile make one more. */
  private ask(): void {
    if (this.asking) {
      this.askAgain = true;
      return;
    }
    this.asking = true;
    this.asked.run(this.askOnce(), () => this.answered(), (error) => {
      this.asking = false;
      this.fail(error);
    });
  }

  private async askOnce(): Promise<void> {
    const { source } = this.context;
    const [list, steps] = [this.addresses.listing(), this.addresses.steps()];
    if (!this.listing || this.listing.layers.length === 0) this.listing = await source.json<Listing>(list.path, list.parameters);
    if (this.listing.layers.length === 0) return;
    this.attentionSteps = new StepRanges((await source.json<StepListing>(steps.path, steps.parameters)).steps);
  }

  private reload(): void {
    this.listing = null;
    this.given = '';
    this.ask();
  }

  private answered(): void {
    this.asking = false;
    if (this.askAgain) {
      this.askAgain = false;
      this.ask();
    }
    this.show();
  }

  private show(): void {
    const { listing } = this;
    if (!listing) return;
    const selection = selectionOf(this.state.params, listing);
    const mode = this.panes[selection.mode] ? selection.mode : (Object.keys(this.panes)[0] as AttentionMode);
    this.selection = { ...selection, mode };
    this.showBar(listing, this.selection);
    const moment = this.momentOf(listing, this.selection);
    if (!moment) return;
    const wanted = JSON.stringify([this.selection, moment.step, moment.other?.name, mode === 'mapping' && listing]);
    if (this.paneMode !== mode) this.enter(mode);
    else if (this.pane && wanted !== this.given) {
      this.given = wanted;
      this.problem.hidden = true;
      this.pane.show(moment);
    }
  }

  private momentOf(listing: Listing, selection: Selection): Moment | null {
    const layer = listing.layers.find((each) => each.layer === selection.layer);
    if (selection.mode === 'mapping' || !layer) {
      return { selection, listing, layer: layer ?? NO_LAYER, step: 0, steps: this.attentionSteps, other: null };
    }
    const step = this.state.step === null ? this.attentionSteps.last : this.attentionSteps.atOrBefore(this.state.step);
    if (step === null) {
      this.showNoStep();
      return null;
    }
    const other = this.comparison.of(this.state.params['b'], this.attentionSteps);
    // Nothing differs from itself: its own weights are of more use than zeros, until a later step is there.
    this.isReference = other !== null && other.addresses === this.addresses && other.step === step;
    return { selection, listing, layer, step, steps: this.attentionSteps, other: this.isReference ? null : other };
  }

  private showNoStep(): void {
    this.given = '';
    const { first } = this.attentionSteps;
    const text = first === null
      ? 'No step with attention has been written yet. It appears here as soon as one is.'
      : `Attention was first captured at step ${count(first)}, after the step that is shown.`;
    replace(this.problem, h('p', {}, text), first !== null && button(`Go to step ${count(first)}`, () => this.context.seek(first)));
    this.problem.hidden = false;
    drawn(this.element, null);
  }

  private showBar(listing: Listing, selection: Selection): void {
    // Without attention there is nothing but to say which tensors are it.
    const modes = listing.layers.length === 0 ? [] : MODES.filter((mode) => this.panes[mode]);
    replace(this.tabs, ...(modes.length > 1 ? modes.map((mode) => this.tab(mode, selection.mode)) : []));
    this.layers.offer(listing.layers.map(({ layer, name }) => [String(layer), name && name !== String(layer) ? `${layer}: ${name}` : String(layer)]));
    this.layers.set(String(selection.layer));
    this.items.set(String(selection.item));
    this.element.dataset['mode'] = selection.mode;
    this.note.textContent = shownText(listing.note);
    this.assumed.hidden = listing.note === '' || selection.mode === 'mapping';
    this.layers.element.hidden = selection.mode === 'model' || selection.mode === 'mapping';
    this.items.element.hidden = selection.mode === 'mapping';
  }

  private tab(mode: AttentionMode, current: AttentionMode): HTMLElement {
    const [title, hint] = TITLES[mode];
    const pressed = (): void => this.change({ mode: wordOf(mode, 'model') });
    return h('button', { type: 'button', title: hint, 'aria-pressed': String(mode === current), 'data-mode': mode, onclick: pressed }, title);
  }

  private enter(mode: AttentionMode): void {
    const load = this.panes[mode];
    if (!load) return;
    this.paneMode = mode;
    this.given = '';
    this.pane?.destroy();
    this.pane = null;
    this.made.run(load(), (make) => {
      // A new element for each: what was there goes with it.
      const element = h('div', { class: 'at-pane', 'data-pane': mode });
      replace(this.host, element);
      this.pane = make(element, {
        loader: this.loader, addresses: this.addresses, run: this.context.run.name, change: (params) => this.change(params),
        announce: (text) => this.context.announce(text), shown: (shown) => this.shown(shown), fail: (error) => this.fail(error), reload: () => this.reload(),
      });
      this.show();
    }, (error) => {
      this.paneMode = null;
      this.fail(error);
    });
  }

  private shown(shown: Shown | null): void {
    this.problem.hidden = true;
    if (!shown) {
      this.status.textContent = '';
      return drawn(this.element, null);
    }
    if (shown.items > 0) {
      this.items.offer(Array.from({ length: shown.items }, (_, item) => [String(item), String(item)]));
      this.items.set(String(this.selection?.item ?? 0));
    }
    const own = shown.mode === '' || shown.mode === 'global' ? '' : ` (${shown.mode} ${count(shown.modeStep)})`;
    const reference = this.isReference ? ', which others are compared with' : '';
    const compared = shown.comparedWith ? `, compared with ${shownText(shown.comparedWith)}` : reference;
    this.status.textContent = `Step ${count(shown.step)}${own}${compared}`;
    drawn(this.element, shown.step);
  }

  private fail(error: unknown): void {
    if (error instanceof Error && error.name === 'AbortError') return; // nobody waits for it any more
    this.given = '';
    const text = error instanceof SourceError ? error.message : `This could not be drawn: ${String(error)}`;
    replace(this.problem, h('p', {}, text), button('Try again', () => (this.listing ? this.show() : this.ask())));
    this.problem.hidden = false;
  }

  private moveLayer(by: number): boolean {
    const layers = this.listing?.layers ?? [];
    const at = layers.findIndex((each) => each.layer === this.selection?.layer);
    const next = layers[at + by];
    if (!next) return false;
    this.change({ layer: String(next.layer) });
    this.context.announce(`Layer ${next.layer}`);
    return true;
  }

  private moveHead(by: number): boolean {
    const layer = this.listing?.layers.find((each) => each.layer === this.selection?.layer);
    const head = (this.selection?.heads[0] ?? 0) + by;
    if (!layer || head < 0 || head >= layer.heads) return false;
    this.change({ heads: wordOf(String(head), '0') });
    this.context.announce(`Head ${head}`);
    return true;
  }
}

const NO_LAYER = {
  layer: 0, name: '', attention: null, query: null, key: null, heads: 0, key_value_heads: 0, head_size: 0, scale: 1,
  mask: 'none', layout: '',
} as const;
