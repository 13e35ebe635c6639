// NeuronPane: how the numbers of a query and of the keys come to attention weights.
import { h, replace } from '../../draw/dom';
import { drawerOf } from '../../draw/drawer';
import { csvOf, fileName, npyOf } from '../../draw/files';
import { count, exact, short } from '../../draw/numbers';
import { SvgWriter } from '../../draw/svg';
import type { Snapshot, SnapshotKind } from '../view';

import { type Neuron, type Request, WHOLE_TOKENS, neuronOf } from './api';
import { Disclosure, button, chooser, countBox } from './controls';
import { pngFrom } from './drawing';
import { HeadStrip } from './head_strip';
import { invariantsOf, largestSize, orderOfDims } from './neuron_math';
import { type Cell, NeuronPicture, insteadOfPicture } from './neuron_picture';
import { neuronSvg } from './neuron_svg';
import { argmax, forFile, largest, rankOf } from './numbers';
import { Latest, type Moment, type Pane, type PaneContext } from './pane';
import { signedBar } from './scale_bar';
import { DEFAULTS, type Side, wordOf } from './selection';
import { neighbours } from './steps';
import { tableOf } from './tables';

const MOST_DIMS = 8;

export class NeuronPane implements Pane {
  private readonly latest = new Latest();
  private readonly strip: HeadStrip;
  private readonly dims;
  private readonly first;
  private readonly find;
  private readonly lock = h('input', { type: 'checkbox' });
  private readonly fields: HTMLElement;
  private readonly scales = h('div', { class: 'at-fields' });
  private readonly invariants = h('p', { class: 'at-invariants' });
  private readonly note = h('p', { class: 'at-note' });
  private readonly body = h('div', { class: 'at-beside' });
  private readonly card = h('section', { class: 'at-card', 'aria-label': 'Exact numbers' });
  private readonly picture: NeuronPicture;
  private readonly table = new Disclosure('As a table', (body) => this.fillTable(body));
  private readonly gone = new AbortController();
  private moment: Moment | null = null;
  private neuron: Neuron | null = null;

  constructor(private readonly element: HTMLElement, private readonly context: PaneContext) {
    const { change } = context;
    this.strip = new HeadStrip((heads) => change({ heads: wordOf(String(heads[0] ?? 0), '0') }), { many: false });
    this.dims = chooser('Dimensions by', [['index', 'number'], ['contribution', 'contribution to the chosen key'], ['variance', 'variance over keys']], (value) => change({ dims: wordOf(value, DEFAULTS.dims) }));
    this.first = countBox('First keys', { min: 1, max: 131072 }, 'all', (value) => change({ first: wordOf(String(value ?? 'all'), String(DEFAULTS.first)) }));
    this.find = h('input', { type: 'search', 'data-search': true, placeholder: 'number or text', 'aria-label': 'Query token, by its number or text', onchange: () => this.search(this.find.value) });
    this.lock.addEventListener('change', () => change({ lock: this.lock.checked ? String(this.vectorLimit()) : undefined }));
    this.picture = new NeuronPicture({
      focus: (side, index) => index !== null && side === 'key' && this.showCell({ key: index, dim: undefined }),
      pick: (side, index) => this.pick(side, index),
    }, (cell) => this.showCell(cell), (ms) => {
      element.dataset['frameMs'] = ms.toFixed(1);
      if (this.neuron) context.shown(this.neuron.origin);
    });
    this.fields = h(
      'div', { class: 'at-fields' }, h('label', { class: 'at-field' }, h('span', {}, 'Query token'), this.find), this.first.element,
      this.dims.element, h('label', { class: 'at-tick' }, this.lock, 'keep these colours over steps'),
    );
    element.classList.add('at-neuron-pane');
    const fields = drawerOf('Query, keys, dimensions', this.fields, this.gone.signal);
    element.append(this.strip.element, fields, this.scales, this.invariants, this.note, this.body, this.table.element);
  }

  show(moment: Moment): void {
    this.moment = moment;
    const { selection, layer } = moment;
    this.strip.show(layer, [this.head(moment)]);
    this.dims.set(selection.dims);
    this.first.set(selection.first === 0 ? null : selection.first);
    this.lock.checked = selection.lock !== null;
    if (!layer.query || !layer.key) return this.showMissing(moment);
    const at = (step: number): Request =>
      this.context.addresses.neuron(selection.layer, this.head(moment), step, selection.item, selection.query, WHOLE_TOKENS);
    const next = neighbours(moment.steps, moment.step, 2).map(at);
    this.element.setAttribute('aria-busy', 'true');
    this.latest.run(this.context.loader.want(at(moment.step), next), (arrays) => {
      this.element.removeAttribute('aria-busy');
      this.neuron = neuronOf(arrays, this.head(moment), selection.query);
      this.draw();
    }, (error) => {
      this.element.removeAttribute('aria-busy');
      this.context.fail(error);
    });
  }

  async snapshot(kind: SnapshotKind): Promise<Snapshot | undefined> {
    const { neuron } = this;
    if (!neuron) return undefined;
    const { layer, step, item } = neuron.origin;
    const name = fileName(this.context.run, 'neuron', `layer${layer}`, `head${neuron.head}`, `query${neuron.query}`, `step${step}`, `item${item}`);
    const data = kind === 'csv' ? csvOf(this.rows(neuron))
      : kind === 'npy' ? npyOf('F32', [neuron.keys, neuron.size], new Uint8Array(neuron.product.slice().buffer))
        : kind === 'png' ? await pngFrom(this.svg(neuron)) : this.svg(neuron).toBlob();
    return data && { fileName: `${name}.${kind}`, data };
  }

  destroy(): void {
    this.gone.abort();
    this.latest.drop();
    this.strip.destroy();
    this.picture.destroy();
  }

  private head(moment: Moment): number {
    return moment.selection.heads[0]!;
  }

  private showMissing(moment: Moment): void {
    this.neuron = null;
    this.latest.drop();
    const lacking = [moment.layer.query ? '' : 'queries', moment.layer.key ? '' : 'keys'].filter(Boolean).join(' and ');
    insteadOfPicture(this.body, `The ${lacking} of ${moment.layer.name || `layer ${moment.layer.layer}`} were not captured, or are not known to be what they are.`,
      'Capture the outputs of the layers that make queries and keys, or say under Mapping which tensors they are.');
    this.body.append(button('Open the mapping', () => this.context.change({ mode: 'mapping' })));
    for (const part of [this.scales, this.invariants, this.note, this.table.element]) part.hidden = true;
    this.context.shown({ step: moment.step, item: moment.selection.item, items: 0, mode: '', modeStep: 0 });
  }

  private shownKeys(neuron: Neuron): number {
    const first = this.moment!.selection.first;
    return first === 0 ? neuron.keys : Math.min(first, neuron.keys);
  }

  private chosenKey(neuron: Neuron): number {
    const chosen = this.moment!.selection.key;
    return chosen !== null && chosen < neuron.keys ? chosen : argmax(neuron.softmax);
  }

  private vectorLimit(): number {
    return this.neuron ? largestSize(this.neuron.queryVector, this.neuron.key) : 1;
  }

  private draw(): void {
    const { neuron, moment } = this;
    if (!neuron || !moment) return;
    for (const part of [this.scales, this.invariants, this.note, this.table.element]) part.hidden = false;
    if (this.picture.element.parentElement !== this.body) replace(this.body, this.picture.element, this.card);
    const key = this.chosenKey(neuron);
    const locked = moment.selection.lock;
    const vectorLimit = locked ?? this.vectorLimit();
    // The largest product there can be is the square of the largest number: as constant as the lock.
    const productLimit = locked !== null ? locked ** 2 : largestSize(neuron.product);
    const keys = this.shownKeys(neuron);
    const queries = Math.min(moment.selection.first || neuron.origin.length, neuron.origin.length);
    const { origin } = neuron;
    Object.assign(this.element.dataset, {
      layer: origin.layer, head: neuron.head, query: neuron.query, key, step: origin.step, item: origin.item,
    });
    this.find.value = String(neuron.query);
    replace(this.scales, signedBar(vectorLimit, 'Query and key'), signedBar(productLimit, 'q × k'));
    this.picture.show({ neuron, order: orderOfDims(neuron, moment.selection.dims, key), keys, queries, key, vectorLimit, productLimit }, this.describe(neuron, key));
    this.showInvariants(neuron, keys);
    this.showCell(null);
    this.table.refresh();
  }

  private nameOf(neuron: Neuron, side: Side, index: number): string {
    const label = neuron.labels[side]?.[index];
    return label === undefined ? `${side} ${index}` : `${label} (${index})`;
  }

  private describe(neuron: Neuron, key: number): string {
    return `Layer ${neuron.origin.layer}, head ${neuron.head}, step ${neuron.origin.step}: ${this.nameOf(neuron, 'query', neuron.query)} against ` +
      `${count(neuron.keys)} keys in ${neuron.size} dimensions. Chosen: ${this.nameOf(neuron, 'key', key)}, weight ${short(neuron.softmax[key]!, 3)}. ` +
      'Arrows move over the numbers.';
  }

  /** Sums that must agree. Said to people, because a debugger's own mistakes are the worst ones. */
  private showInvariants(neuron: Neuron, keys: number): void {
    const found = invariantsOf(neuron);
    Object.assign(this.element.dataset, {
      dotDifference: found.dotDifference, dotHolds: found.dotHolds, softmaxSum: found.softmaxSum, softmaxHolds: found.softmaxHolds,
    });
    const mark = (holds: boolean): string => (holds ? '✓' : '✗ does not hold');
    const part = found.wholeRow ? '' : ` over the first ${count(neuron.keys)} of ${count(neuron.origin.keyLength)} keys`;
    replace(
      this.invariants,
      h('span', { 'data-invariant': 'dot' }, `Σ q × k = q · k ${mark(found.dotHolds)} (off by ${short(found.dotDifference, 2)} at most)`),
      h('span', { 'data-invariant': 'scale' }, `q · k × ${short(neuron.scale)} = scaled ${mark(found.scaleHolds)}`),
      h('span', { 'data-invariant': 'softmax' }, `Σ softmax${part} = ${short(found.softmaxSum, 7)} ${mark(found.softmaxHolds)}`),
      found.capturedDifference !== null && h('span', {}, `captured weights are off by ${short(found.capturedDifference, 2)} at most`),
    );
    const hidden = keys < neuron.keys ? `The first ${count(keys)} of ${count(neuron.keys)} keys are shown; sums and softmax are over all.` : '';
    const shared = neuron.keyValueHead !== neuron.head ? `Head ${neuron.head} uses key head ${neuron.keyValueHead}.` : '';
    replace(this.note, [shared, hidden, neuron.labels.note].filter(Boolean).join(' '));
  }

  private pick(side: Side, index: number): void {
    if (side === 'query') this.context.change({ query: wordOf(String(index), '0') });
    else this.context.change({ key: String(index) });
  }

  /** Goes to the token of that number, or to the next one with that text in it. */
  private search(text: string): void {
    const { neuron } = this;
    if (!neuron) return;
    const wanted = text.trim();
    if (/^\d+$/.test(wanted)) return this.pick('query', Math.min(Number(wanted), neuron.origin.length - 1));
    const labels = neuron.labels.query ?? [];
    const after = [...labels.keys()].map((i) => (neuron.query + 1 + i) % labels.length);
    const found = after.find((i) => labels[i]!.toLowerCase().includes(wanted.toLowerCase()));
    if (found === undefined) this.context.announce(`No token has ${wanted} in it`);
    else this.pick('query', found);
  }

  private showCell(cell: Cell | null): void {
    const { neuron } = this;
    if (!neuron) return;
    const key = cell && cell.key < neuron.keys ? cell.key : this.chosenKey(neuron);
    const number = (name: string, value: number): HTMLElement =>
      h('div', { class: 'at-number' }, h('span', {}, name), h('data', { value: exact(value, 'F32'), 'data-name': name }, exact(value, 'F32')));
    const at = (dim: number): number => key * neuron.size + dim;
    const dims = largest(neuron.product.subarray(at(0), at(neuron.size)).map(Math.abs), MOST_DIMS);
    const dim = cell?.dim;
    this.card.dataset['key'] = String(key);
    if (dim === undefined) delete this.card.dataset['dim'];
    else this.card.dataset['dim'] = String(dim);
    replace(
      this.card,
      h('h2', {}, `${this.nameOf(neuron, 'query', neuron.query)} against ${this.nameOf(neuron, 'key', key)}`),
      dim !== undefined && h('section', {}, h('h3', {}, `Dimension ${dim}`), number('q', neuron.queryVector[dim]!), number('k', neuron.key[at(dim)]!), number('q × k', neuron.product[at(dim)]!)),
      number('q · k', neuron.dot[key]!), number('scaled', neuron.scaled[key]!), number('softmax', neuron.softmax[key]!),
      neuron.captured && number('captured', neuron.captured[key]!),
      h('p', {}, `Rank ${rankOf(neuron.softmax, key)} of ${count(neuron.keys)} keys`),
      h('h3', {}, 'Dimensions that matter most'),
      h('ol', { class: 'at-dims' }, ...dims.map((each) => h('li', {}, `dimension ${each} `, h('data', { value: exact(neuron.product[at(each)]!, 'F32') }, exact(neuron.product[at(each)]!, 'F32'))))),
    );
  }

  private fillTable(body: HTMLElement): void {
    const { neuron, moment } = this;
    if (!neuron || !moment) return;
    const cell = (name: string, value: number, more: Record<string, number>): HTMLElement => h('data', {
      value: exact(value, 'F32'), 'data-column': name, ...Object.fromEntries(Object.entries(more).map(([k, v]) => [`data-${k}`, v])),
    }, exact(value, 'F32'));
    const keys = this.shownKeys(neuron);
    const sums = Array.from({ length: keys }, (_, key) => [
      this.nameOf(neuron, 'key', key), cell('dot', neuron.dot[key]!, { key }), cell('scaled', neuron.scaled[key]!, { key }), cell('softmax', neuron.softmax[key]!, { key }),
    ]);
    const chosen = this.chosenKey(neuron);
    const dims = orderOfDims(neuron, moment.selection.dims, chosen).map((dim) => [
      String(dim), cell('query', neuron.queryVector[dim]!, { dim }), cell('key', neuron.key[chosen * neuron.size + dim]!, { dim }),
      cell('product', neuron.product[chosen * neuron.size + dim]!, { dim, key: chosen }),
    ]);
    replace(
      body, tableOf(`${this.nameOf(neuron, 'query', neuron.query)} against the keys`, ['Key', 'q · k', 'Scaled', 'Softmax'], sums),
      tableOf(`Dimensions of ${this.nameOf(neuron, 'query', neuron.query)} and ${this.nameOf(neuron, 'key', chosen)}`, ['Dimension', 'q', 'k', 'q × k'], dims),
    );
  }

  private rows(neuron: Neuron): (string | number)[][] {
    const dims = Array.from({ length: neuron.size }, (_, dim) => dim);
    const header = ['step', 'item', 'layer', 'head', 'query', 'query_token', 'key', 'key_token', 'dot', 'scaled', 'softmax', ...dims.map((dim) => `product_${dim}`)];
    const { step, item, layer } = neuron.origin;
    return [header, ...Array.from({ length: neuron.keys }, (_, key) => [
      step, item, layer, neuron.head, neuron.query, neuron.labels.query?.[neuron.query] ?? '', key, neuron.labels.key?.[key] ?? '',
      forFile(neuron.dot[key]!), forFile(neuron.scaled[key]!), forFile(neuron.softmax[key]!),
      ...dims.map((dim) => forFile(neuron.product[key * neuron.size + dim]!)),
    ])];
  }

  private svg(neuron: Neuron): SvgWriter {
    const key = this.chosenKey(neuron);
    return neuronSvg(neuron, orderOfDims(neuron, this.moment!.selection.dims, key), this.shownKeys(neuron), this.describe(neuron, key));
  }
}
