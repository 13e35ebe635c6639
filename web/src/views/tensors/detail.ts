// Detail: one tensor, looked at in one of several ways.
import type { GivenFile } from '../../data/source';
import { StepRanges } from '../../data/step_ranges';
import { csvOf, save } from '../../draw/files';
import { h, replace } from '../../draw/dom';
import { drawerOf } from '../../draw/drawer';
import { bytes, count } from '../../draw/numbers';
import type { SnapshotKind } from '../view';

import type { TensorInfo } from './api';
import { copyLines } from './copy_lines';
import { HistogramPane } from './histogram_pane';
import { NumbersPane } from './numbers_pane';
import { type Look, type Pane, type PaneOwner, stepOf, whyAnotherStep } from './pane';
import { PicturesPane } from './pictures_pane';
import { ValuesPane } from './values_pane';

type Tab = 'numbers' | 'histogram' | 'values' | 'pictures';
const TITLES: Record<Tab, string> = { numbers: 'Statistics', histogram: 'Histogram', values: 'Values', pictures: 'Pictures' };
const ITEM_BYTES: Record<string, number> = {
  bool: 1, int8: 1, int16: 2, int32: 4, int64: 8, uint8: 1, uint16: 2, uint32: 4, uint64: 8, float16: 2, bfloat16: 2, float32: 4, float64: 8,
  float8_e4m3: 1, float8_e5m2: 1, complex64: 8, complex128: 16,
};

/** The ways in which this tensor can be looked at, the usual one first. */
export function tabsOf(info: TensorInfo): Tab[] {
  if (info.dtype === 'string') return ['values'];
  const tabs: Tab[] = ['numbers'];
  if (info.shape && info.shape.length > 0) tabs.push('histogram');
  if (info.forms.value) tabs.push('values');
  if (info.forms.value && (info.shape?.length ?? 0) >= 2) tabs.push('pictures');
  return tabs;
}

/** What a pane shows depends on this: while it is the same, nothing is asked and nothing is drawn. */
function shownBy(tab: Tab, look: Look): string {
  const { info, params, step } = look;
  const form = showsValues(tab) ? 'value' : 'any';
  const steps = form === 'value' ? info.forms.value : info.steps;
  return JSON.stringify([tab, info.id, info.shape, info.workers, steps, stepOf(look, form), params, params['b'] === undefined ? null : step]);
}

export class Detail {
  readonly element = h('section', { class: 'tn-detail', hidden: true });
  private readonly head = h('div', {});
  private readonly tabs = h('div', { class: 'tn-buttons', role: 'group', 'aria-label': 'Looked at as' });
  private readonly body = h('div', {});
  private readonly paneOwner: PaneOwner;
  private pane: Pane | null = null;
  private tab: Tab | null = null;
  private look: Look | null = null;
  private headOf = '';
  private shown = ''; // by the pane

  constructor(private readonly owner: PaneOwner) {
    this.paneOwner = { ...owner, failed: (error) => this.fail(error) };
    replace(this.element, this.head, this.tabs, this.body);
  }

  show(look: Look): void {
    this.look = look;
    this.element.hidden = false;
    const tabs = tabsOf(look.info);
    const tab = tabs.find((name) => name === look.params['tab']) ?? tabs[0]!;
    this.showHead(look, tab);
    const shown = shownBy(tab, look);
    if (shown === this.shown) return;
    this.shown = shown;
    replace(this.tabs, ...tabs.map((name) =>
      h('button', { type: 'button', 'data-tab': name, 'aria-pressed': String(name === tab), onclick: () => this.owner.context.change({ tab: name }) }, TITLES[name])));
    if (tab !== this.tab) {
      this.pane?.destroy();
      this.pane = this.make(tab);
      this.tab = tab;
      replace(this.body, this.pane.element);
    }
    this.pane!.show(look);
  }

  hide(): void {
    this.pane?.destroy();
    this.pane = null;
    this.tab = null;
    this.headOf = '';
    this.shown = '';
    this.element.hidden = true;
    replace(this.body);
  }

  /** What the look is at, for the name of a file. */
  words(): string {
    if (!this.look || !this.tab) return '';
    return `${this.tab}-step-${stepOf(this.look, showsValues(this.tab) ? 'value' : 'any') ?? 'none'}`;
  }

  async snapshot(kind: SnapshotKind): Promise<Blob | undefined> {
    switch (kind) {
      case 'csv': return this.pane?.csv ? csvOf(this.pane.csv()) : undefined;
      case 'svg': return this.pane?.svg?.();
      case 'png': return this.pane?.png?.();
      case 'npy': return this.pane?.npy?.();
    }
  }

  destroy(): void {
    this.pane?.destroy();
  }

  /** The next news makes the pane ask again. */
  private fail(error: unknown): void {
    this.shown = '';
    this.owner.failed(error);
  }

  private make(tab: Tab): Pane {
    switch (tab) {
      case 'numbers': return new NumbersPane(this.paneOwner);
      case 'histogram': return new HistogramPane(this.paneOwner);
      case 'values': return new ValuesPane(this.paneOwner);
      case 'pictures': return new PicturesPane(this.paneOwner);
    }
  }

  private showHead(look: Look, tab: Tab): void {
    const { info, params } = look;
    const valueAt = stepOf(look, 'value');
    const at = showsValues(tab) ? valueAt : stepOf(look);
    const why = showsValues(tab) ? whyAnotherStep(look) : '';
    const headOf = [info.id, at, valueAt, why, params['worker'], info.workers.length].join(' ');
    if (headOf === this.headOf) return;
    const open = this.head.querySelector<HTMLDetailsElement>('.tn-code')?.open ?? false;
    this.headOf = headOf;
    const close = h('button', { type: 'button', class: 'quiet tn-close', 'aria-label': 'Close the tensor', title: 'All tensors', onclick: () => this.owner.context.change({ tensor: undefined, tab: undefined }) }, '✕');
    replace(this.head,
      h('div', { class: 'tn-title' }, h('h2', {}, info.name), close),
      h('p', {}, h('span', { class: 'mono' }, `${info.dtype ?? 'type unknown'} ${info.shape ? `[${info.shape.join(', ')}]` : ''}`), ` ${sizeText(info)}`,
        h('span', { class: 'muted' }, ` · ${formsText(info)} · shown: step ${at ?? 'none'}${this.modeText(info, at)}${info.collections.length > 0 ? ` · ${info.collections.join(', ')}` : ''}`)),
      why === '' ? null : h('p', { class: 'muted', 'data-why': '' }, why),
      this.workers(info, params['worker']),
      drawerOf('Files, code', h('div', {},
        h('div', { class: 'toolbar' }, ...this.downloads(info, valueAt, params['worker'])),
        h('details', { open, class: 'tn-code' }, h('summary', {}, 'As a line of code'), ...this.lines(info, valueAt ?? at)))));
  }

  private modeText(info: TensorInfo, step: number | null): string {
    if (step === null) return '';
    for (const { mode, steps } of info.modes) if (mode !== 'global' && new StepRanges(steps).has(step)) return ` (${mode})`;
    return '';
  }

  private workers(info: TensorInfo, now: string | undefined): HTMLElement | null {
    if (info.workers.length < 2) return null;
    const select = h('select', { 'data-choice': 'worker', onchange: () => this.owner.context.change({ worker: select.value === '' ? undefined : select.value }) },
      h('option', { value: '' }, 'first that has it'), ...info.workers.map((worker) => h('option', { value: worker, selected: worker === now }, worker)));
    return h('label', {}, 'Worker', select);
  }

  private downloads(info: TensorInfo, step: number | null, worker: string | undefined): (HTMLElement | null)[] {
    const { api } = this.owner;
    if (!api.givesFiles) return [];
    const give = (text: string, file: () => Promise<GivenFile>) =>
      h('button', { type: 'button', 'data-file': text, onclick: () => void file().then(({ name, data }) => save(name, data)).catch(this.owner.failed) }, text);
    const buttons = [info.dtype === 'string' ? null : give('Statistics CSV', () => api.statisticsFile(info.id))];
    if (step === null) return buttons;
    const value = (format: 'npy' | 'csv' | 'png') => () => api.file(info.id, step, format, undefined, worker);
    buttons.push(give('NPY', value('npy')), give('CSV', value('csv')));
    const rank = info.shape?.length ?? 0;
    if (rank >= 2 && rank <= 4 && info.dtype !== 'string') buttons.push(give('PNG', value('png')));
    return buttons;
  }

  private lines(info: TensorInfo, step: number | null): HTMLElement[] {
    return copyLines(this.owner.context.run.name, info, step).map(({ language, text }) => {
      const button = h('button', { type: 'button', onclick: () => {
        void navigator.clipboard.writeText(text).then(() => this.owner.context.announce(`Copied the line of ${language}`), this.owner.failed);
      } }, `Copy ${language}`);
      return h('p', { class: 'tn-copy' }, button, h('code', {}, text));
    });
  }
}

/** Its elements, which a step with statistics alone does not have. */
function showsValues(tab: Tab): boolean {
  return tab === 'values' || tab === 'pictures';
}

function sizeText(info: TensorInfo): string {
  if (!info.shape) return '';
  const elements = info.shape.reduce((a, b) => a * b, 1);
  const each = ITEM_BYTES[info.dtype ?? ''];
  return `${count(elements)} element${elements === 1 ? '' : 's'}${each === undefined ? '' : `, ${bytes(elements * each)}`}`;
}

function formsText(info: TensorInfo): string {
  const names = { value: 'whole', statistics: 'as statistics', scalar: 'as a number', shape: 'as a shape', reductions: 'as single numbers' } as const;
  return (Object.keys(names) as (keyof typeof names)[])
    .flatMap((form) => {
      const steps = new StepRanges(info.forms[form] ?? []).count;
      return steps === 0 ? [] : [`kept ${names[form]} at ${count(steps)} step${steps === 1 ? '' : 's'}`];
    })
    .join(', ');
}
