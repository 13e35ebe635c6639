// MatrixPane: one head as a matrix of queries by keys, of texts of any length: tiles for the picture, single rows for
// the numbers.
import { dataAddressOf, pngOf } from '../../draw/canvas';
import { h, replace } from '../../draw/dom';
import { drawerOf } from '../../draw/drawer';
import { csvOf, fileName } from '../../draw/files';
import { count, exact } from '../../draw/numbers';
import { SvgWriter } from '../../draw/svg';

import type { Snapshot, SnapshotKind } from '../view';

import { type Request, WHOLE_TOKENS } from './api';
import { Disclosure, button, chooser } from './controls';
import { weightsAsNpy } from './head_export';
import { HeadStrip } from './head_strip';
import { type MatrixCell, MatrixPicture } from './matrix_picture';
import { forFile, rankOf } from './numbers';
import { Latest, type Moment, type Pane, type PaneContext } from './pane';
import { weightOfByte } from './pixels';
import { brightestChooser, signedBar, weightBar } from './scale_bar';
import { DEFAULTS, wordOf } from './selection';
import { tableOf } from './tables';
import { Tiles } from './tiles';
import { TokenCard, nameOf } from './token_card';
import { Weights } from './weights';
import { WeightsFeed } from './weights_feed';

const ROW_WAIT_MS = 40;

export class MatrixPane implements Pane {
  private readonly latest = new Latest();
  private readonly feed: WeightsFeed;
  private readonly strip: HeadStrip;
  private readonly channel;
  private readonly brightest;
  private readonly scale = h('span', {});
  private readonly picture: MatrixPicture;
  private readonly card = new TokenCard();
  private readonly reading = h('p', { class: 'at-reading' });
  private readonly note = h('p', { class: 'at-note' });
  private readonly table = new Disclosure('The row as a table', (body) => this.fillTable(body));
  private moment: Moment | null = null;
  private row: Weights | null = null;
  private tiles: Tiles | null = null;
  private cell: MatrixCell = { query: 0, key: 0 };
  private readonly gone = new AbortController();
  private wait: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly element: HTMLElement, private readonly context: PaneContext) {
    this.strip = new HeadStrip((heads) => context.change({ heads: wordOf(String(heads[0] ?? 0), '0') }), { many: false });
    this.feed = new WeightsFeed(context);
    this.channel = chooser('A pixel of several is their', [['max', 'largest weight'], ['mean', 'mean weight']], (value) => context.change({ channel: wordOf(value, DEFAULTS.channel) }));
    this.brightest = brightestChooser(context);
    this.picture = new MatrixPicture((cell, chosen) => this.point(cell, chosen), (view) => this.tiles?.want(view, this.rowRequests()), (ms) => {
      element.dataset['frameMs'] = ms.toFixed(1);
      element.dataset['tiles'] = String(this.tiles?.arrivedCount ?? 0);
      this.showScale();
      if (this.row) context.shown({ ...this.row.origin, comparedWith: this.row.comparedWith });
    });
    const fields = h('div', { class: 'at-fields' }, this.channel.element, this.brightest.element, this.scale, this.moves());
    element.classList.add('at-matrix-pane');
    element.append(
      this.strip.element, drawerOf('Pixels, colours, moving', fields, this.gone.signal), this.note,
      h('div', { class: 'at-beside' }, this.picture.element, h('div', {}, this.reading, this.card.element)), this.table.element,
    );
  }

  show(moment: Moment): void {
    this.moment = moment;
    const { selection } = moment;
    this.strip.show(moment.layer, [selection.heads[0]!]);
    this.channel.set(selection.channel);
    this.brightest.set(selection.brightest);
    this.cell = { query: selection.query, key: selection.key ?? this.cell.key };
    this.load(moment);
  }

  async snapshot(kind: SnapshotKind): Promise<Snapshot | undefined> {
    const { row } = this;
    if (!row) return undefined;
    const { layer, step, item } = row.origin;
    const name = fileName(this.context.run, 'attention', `layer${layer}`, `head${row.heads[0]}`, `step${step}`, `item${item}`);
    const data = await this.dataOf(kind, row);
    return data && { fileName: `${name}.${kind}`, data };
  }

  destroy(): void {
    clearTimeout(this.wait);
    this.gone.abort();
    this.latest.drop();
    this.strip.destroy();
    this.picture.destroy();
  }

  /** Everything that a drag and a wheel do, for who has neither. */
  private moves(): HTMLElement {
    const { picture } = this;
    const move = (text: string, title: string, act: () => void): HTMLElement => {
      const element = button(text, act, title);
      element.setAttribute('aria-label', title);
      return element;
    };
    return h(
      'span', { class: 'at-moves', role: 'group', 'aria-label': 'Move over the matrix' },
      move('+', 'Larger', () => picture.zoom(2)), move('−', 'Smaller', () => picture.zoom(0.5)), move('Fit', 'All of it', () => picture.fit()),
      move('←', 'To the left', () => picture.pan(-0.5, 0)), move('↑', 'Up', () => picture.pan(0, -0.5)),
      move('↓', 'Down', () => picture.pan(0, 0.5)), move('→', 'To the right', () => picture.pan(0.5, 0)),
    );
  }

  private showScale(): void {
    const compared = this.row?.comparedWith ?? null;
    const { limit = 1, top = 255 } = this.tiles ?? {};
    this.brightest.element.hidden = compared !== null; // a change has colours of its own
    replace(this.scale, compared === null ? weightBar(weightOfByte(top)) : signedBar(limit, `Change of weight from ${compared}`));
  }

  /** Of the head alone. */
  private single(moment: Moment): Moment {
    return { ...moment, selection: { ...moment.selection, heads: moment.selection.heads.slice(0, 1), together: 'each', words: false } };
  }

  /** Not given up for the tiles. */
  private rowRequests(): Request[] {
    return this.moment ? this.feed.rowRequests(this.single(this.moment), this.cell.query) : [];
  }

  /** The row of the cell first: it says how large the matrix is. */
  private load(moment: Moment): void {
    const { query } = this.cell;
    this.element.setAttribute('aria-busy', 'true');
    this.latest.run(this.feed.row(this.single(moment), query), (row) => {
      this.element.removeAttribute('aria-busy');
      this.row = row;
      this.takeRow(moment, row);
    }, (error) => {
      this.element.removeAttribute('aria-busy');
      this.context.fail(error);
    });
  }

  private takeRow(moment: Moment, row: Weights): void {
    const { selection } = moment;
    const { origin } = row;
    const matrix = {
      layer: selection.layer, head: selection.heads[0]!, step: moment.step, item: selection.item,
      queries: origin.length, keys: origin.keyLength, channel: selection.channel, brightest: selection.brightest,
    };
    const isNew = JSON.stringify([matrix, moment.other?.name]) !== JSON.stringify([this.tiles?.matrix, this.tiles?.other?.name]);
    if (isNew) this.tiles = new Tiles(this.context, matrix, moment.other, () => this.picture.schedule());
    this.cell.key = Math.min(this.cell.key, row.keyCount - 1);
    Object.assign(this.element.dataset, {
      layer: origin.layer, head: matrix.head, step: origin.step, item: origin.item, length: origin.length,
      levels: this.tiles!.levels, query: this.cell.query, key: this.cell.key, compared: row.comparedWith ?? '',
    });
    const recomputed = origin.recomputed ? 'Weights are worked out from the captured queries and keys.' : '';
    replace(this.note, [recomputed, row.labels.note].filter(Boolean).join(' '));
    this.picture.show(this.tiles!, { query: (i) => row.labels.query?.[i], key: (i) => row.labels.key?.[i] }, this.cell, this.describe(row));
    this.read(row);
    this.table.refresh();
  }

  private describe(row: Weights): string {
    const { origin } = row;
    const compared = row.comparedWith === null ? '' : `, change from ${row.comparedWith}`;
    const size = `${count(origin.length)} queries downwards by ${count(origin.keyLength)} keys to the right`;
    return `Layer ${origin.layer}, head ${row.heads[0]}${compared}, step ${origin.step}: ${size}. ` +
      'Arrows move over the cells, plus and minus enlarge and make smaller, 0 shows all.';
  }

  private point(cell: MatrixCell, chosen: boolean): void {
    const { moment, row } = this;
    if (!moment || !row) return;
    const sameRow = cell.query === this.cell.query;
    this.cell = { ...cell };
    if (chosen) this.context.change({ query: wordOf(String(cell.query), '0'), key: String(cell.key) });
    if (sameRow) return this.takeRow(moment, row);
    clearTimeout(this.wait);
    this.wait = setTimeout(() => this.load(this.moment!), ROW_WAIT_MS);
  }

  private read(row: Weights): void {
    const { query, key } = this.cell;
    const weights = row.given(query);
    if (!weights) return;
    const value = weights[key]!;
    const isChange = row.comparedWith !== null;
    replace(
      this.reading, h('bdi', {}, nameOf(row, { side: 'query', index: query })), isChange ? ' to ' : ' gives ',
      h('bdi', {}, nameOf(row, { side: 'key', index: key })), isChange ? ': change ' : ' ',
      h('data', { value: exact(value, 'F32'), 'data-query': query, 'data-key': key }, exact(value, 'F32')),
      !isChange && `, rank ${count(rankOf(weights, key))} of ${count(weights.length)}`,
    );
    this.card.show(row, { side: 'query', index: query }, key);
  }

  private fillTable(body: HTMLElement): void {
    const { row } = this;
    const weights = row?.given(this.cell.query);
    if (!row || !weights) return;
    const shown = weights.subarray(0, WHOLE_TOKENS);
    const rows = Array.from(shown, (value, key) => [
      nameOf(row, { side: 'key', index: key }), h('data', { value: exact(value, 'F32'), 'data-key': key }, exact(value, 'F32')),
    ]);
    const part = shown.length < weights.length ? `, the first ${count(shown.length)} of ${count(weights.length)} keys` : '';
    const [what, column] = row.comparedWith === null ? ['Stored weights', 'Weight'] : [`Changes from ${row.comparedWith}`, 'Change'];
    const title = `${what} of ${nameOf(row, { side: 'query', index: this.cell.query })}${part}`;
    replace(body, tableOf(title, ['Key', column], rows));
  }

  private async dataOf(kind: SnapshotKind, row: Weights): Promise<Blob | undefined> {
    if (kind === 'csv') {
      const weights = row.given(this.cell.query)!;
      return csvOf([['query', 'query_token', 'key', 'key_token', row.comparedWith === null ? 'weight' : 'change'], ...Array.from(weights, (value, key) => [
        this.cell.query, row.queryLabel(this.cell.query) ?? '', key, row.keyLabel(key) ?? '', forFile(value),
      ])]);
    }
    if (kind === 'npy') return this.whole(row);
    const canvas = this.picture.toCanvas();
    if (kind === 'png') return pngOf(canvas);
    const svg = new SvgWriter(canvas.clientWidth, canvas.clientHeight, this.describe(row));
    return svg.image(await dataAddressOf(canvas), 0, 0, canvas.clientWidth, canvas.clientHeight).toBlob();
  }

  /** All weights, where they are not too many for one answer; otherwise the row. */
  private async whole(row: Weights): Promise<Blob | undefined> {
    if (row.origin.length > WHOLE_TOKENS) return weightsAsNpy(row);
    const { selection, step } = this.moment!;
    const arrays = await this.context.loader.arrays(this.context.addresses.head(selection.layer, row.heads, step, selection.item, 0));
    return weightsAsNpy(Weights.of(arrays, Array.from({ length: row.origin.length }, (_, i) => i)));
  }
}
