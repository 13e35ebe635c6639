// ModelPane: all heads of all layers at a glance, their numbers, and how these went over the training.
import { dataAddressOf } from '../../draw/canvas';
import { h, replace } from '../../draw/dom';
import { drawerOf } from '../../draw/drawer';
import { csvOf, fileName, npyOf } from '../../draw/files';
import { count, short } from '../../draw/numbers';
import { SvgWriter } from '../../draw/svg';
import { onThemeChange, themeOf } from '../../draw/theme';
import type { Snapshot, SnapshotKind } from '../view';

import { type Atlas, type LayerInfo, type Request, atlasOf } from './api';
import { Disclosure, chooser } from './controls';
import { pngFrom } from './drawing';
import { MetricLines } from './metric_lines';
import { CAPTION_PX, type Grid, type Room, cellAt, gridOfHeads, gridOfLayers, sizeOf, slotOf } from './model_grid';
import { type Place, metricAt, metricName, orderOf, placesOf } from './model_order';
import { paintMargins, sharedBy } from './model_margins';
import { headTable, rowsForFile } from './model_table';
import { largestSize } from './neuron_math';
import { Latest, type Moment, type Pane, type PaneContext } from './pane';
import { changesOf, imageOf, largestByte, pixelsOf, signedPixels, weightOfByte } from './pixels';
import { brightestChooser, signedBar, weightBar } from './scale_bar';
import { DEFAULTS, wordOf } from './selection';
import { ALIKE, type Grouping, groupedBySimilarity } from './similarity';
import { neighbours } from './steps';

/** Rows and columns of a picture: of many heads fewer, so that their answer stays small. */
const FINE = 64;
const COARSE = 32;
const MOST_FINE_HEADS = 200;
/** Below the pictures: the disclosures, the time bar. */
const BELOW_PX = 190;
const LEAST_HEIGHT_PX = 240;

export class ModelPane implements Pane {
  private readonly latest = new Latest();
  private readonly channel;
  private readonly sort;
  private readonly brightest;
  private readonly scale = h('span', {});
  private readonly canvas = h('canvas', { 'aria-hidden': 'true' });
  private readonly cells = h('div', { class: 'at-cells', role: 'group', 'aria-label': 'Heads of all layers' });
  private readonly atlasBox = h('div', { class: 'at-atlas' });
  private readonly summary = h('p', { class: 'at-note' });
  private readonly table = new Disclosure('Numbers of all heads', (body) => this.fillTable(body));
  private readonly lines: MetricLines;
  private readonly observer: ResizeObserver | null;
  private readonly forget: () => void;
  private readonly gone = new AbortController();
  private moment: Moment | null = null;
  private atlas: Atlas | null = null;
  private grouping: Grouping | null = null; // of this atlas, once it is asked for
  private comparedWith: string | null = null;
  private image: HTMLCanvasElement | null = null;
  private frame = 0;
  private current = 0;

  constructor(private readonly element: HTMLElement, private readonly context: PaneContext) {
    this.channel = chooser('A pixel is the', [['max', 'largest weight'], ['mean', 'mean weight']], (value) => context.change({ channel: wordOf(value, DEFAULTS.channel) }));
    this.sort = chooser('Order', [['layer', 'layers and heads']], (value) => context.change({ sort: wordOf(value, DEFAULTS.sort) }));
    this.brightest = brightestChooser(context);
    this.lines = new MetricLines(context);
    this.atlasBox.append(this.canvas, this.cells);
    this.cells.addEventListener('keydown', (event) => this.cellKey(event));
    element.classList.add('at-model-pane');
    const fields = h('div', { class: 'at-fields' }, this.sort.element, this.channel.element, this.brightest.element, this.scale);
    element.append(
      drawerOf('Order and colours', fields, this.gone.signal),
      this.summary, this.atlasBox, this.table.element, this.lines.element,
    );
    this.observer = typeof ResizeObserver === 'undefined' ? null : new ResizeObserver(() => this.schedule());
    this.observer?.observe(this.atlasBox);
    this.forget = onThemeChange(() => this.schedule());
  }

  show(moment: Moment): void {
    this.moment = moment;
    this.channel.set(moment.selection.channel);
    this.brightest.set(moment.selection.brightest);
    this.lines.show(moment);
    const at = (step: number): Request => this.context.addresses.atlas(step, moment.selection.item, sideOf(moment));
    const next = neighbours(moment.steps, moment.step, 2).map(at);
    this.element.setAttribute('aria-busy', 'true');
    this.latest.run(this.ask(moment, at(moment.step), next), ([atlas, other]) => {
      this.element.removeAttribute('aria-busy');
      this.take(atlas, other, moment);
    }, (error) => {
      this.element.removeAttribute('aria-busy');
      this.context.fail(error);
    });
  }

  async snapshot(kind: SnapshotKind): Promise<Snapshot | undefined> {
    const { atlas, moment } = this;
    if (!atlas || !moment) return undefined;
    const name = fileName(this.context.run, 'attention', `step${atlas.step}`, `item${atlas.item}`);
    const shape = [atlas.layers, atlas.heads, atlas.size, atlas.size];
    const data = kind === 'csv' ? csvOf(rowsForFile({ atlas, layers: moment.listing.layers, places: this.places() }))
      : kind === 'npy' ? npyOf('U8', shape, atlas[moment.selection.channel])
        : kind === 'png' ? await pngFrom(await this.svg(atlas)) : (await this.svg(atlas)).toBlob();
    return data && { fileName: `${name}.${kind}`, data };
  }

  destroy(): void {
    cancelAnimationFrame(this.frame);
    this.gone.abort();
    this.latest.drop();
    this.observer?.disconnect();
    this.forget();
    this.lines.destroy();
  }

  private async ask(moment: Moment, now: Request, next: readonly Request[]): Promise<[Atlas, Atlas | null]> {
    const { loader } = this.context;
    const { item } = moment.selection;
    const { other } = moment;
    const then = other && other.addresses.atlas(other.step, item, sideOf(moment));
    const atlas = atlasOf(await loader.want(now, then ? [then, ...next] : next), moment.step, item);
    return [atlas, then && other ? atlasOf(await loader.arrays(then), other.step, item) : null];
  }

  private take(atlas: Atlas, other: Atlas | null, moment: Moment): void {
    this.atlas = atlas;
    this.grouping = null;
    this.comparedWith = other && moment.other ? moment.other.name : null;
    this.sort.offer([['layer', 'layers and heads'], ['similar', 'similarity'], ...atlas.metrics.flatMap((metric) => [
      [metric, `${metricName(metric)}, largest first`] as const, [`-${metric}`, `${metricName(metric)}, smallest first`] as const,
    ])]);
    this.sort.set(moment.selection.sort);
    // All pictures below each other: each is a rectangle of whole rows.
    this.image = imageOf(this.pixels(atlas, other, moment), atlas.size, atlas.layers * atlas.heads * atlas.size);
    Object.assign(this.element.dataset, { step: atlas.step, item: atlas.item, layers: atlas.layers, heads: atlas.heads });
    this.summary.textContent = this.describe(atlas, moment);
    this.schedule();
    this.table.refresh();
  }

  /** The weights, or what has changed in them; the scale beside it says which. */
  private pixels(atlas: Atlas, other: Atlas | null, moment: Moment): Uint8ClampedArray<ArrayBuffer> {
    const { channel, brightest } = moment.selection;
    this.brightest.element.hidden = other !== null; // a change has colours of its own
    if (!other) {
      const top = brightest === 'own' ? largestByte(atlas[channel]) : 255;
      replace(this.scale, weightBar(weightOfByte(top)));
      return pixelsOf(atlas[channel], top);
    }
    const changes = changesOf(atlas[channel], other[channel]);
    const limit = largestSize(changes);
    replace(this.scale, signedBar(limit, `Change of weight from ${moment.other!.name}`));
    return signedPixels(changes, limit);
  }

  private describe(atlas: Atlas, moment: Moment): string {
    const heads = moment.listing.layers.reduce((sum, layer) => sum + layer.heads, 0);
    const sharpest = orderOf(atlas, headsOf(moment.listing.layers), '-entropy')[0];
    const text = sharpest && !Number.isNaN(metricAt(atlas, 'entropy', sharpest))
      ? ` The sharpest is layer ${sharpest.layer}, head ${sharpest.head}, with an entropy of ${short(metricAt(atlas, 'entropy', sharpest), 3)} nats.` : '';
    const groups = moment.selection.sort !== 'similar' ? ''
      : ` ${count(this.grouped().groups)} groups of heads that look alike (similarity of at least ${ALIKE} on average).`;
    const shared = moment.listing.layers.some((layer) => sharedBy(layer) > 1) ? ' Heads over one line share a key.' : '';
    return `${count(heads)} heads on ${count(atlas.length)} tokens, queries downwards, keys to the right.${groups || text}${shared} ` +
      'A click or Enter opens a head.';
  }

  private places(): Place[] {
    const { atlas, moment } = this;
    if (!atlas || !moment) return [];
    const heads = headsOf(moment.listing.layers);
    if (moment.selection.sort !== 'similar') return orderOf(atlas, heads, moment.selection.sort);
    const places = placesOf(heads);
    return this.grouped().order.map((index) => places[index]!);
  }

  private grouped(): Grouping {
    if (this.grouping) return this.grouping;
    const { size, heads, mean } = this.atlas!;
    const places = placesOf(headsOf(this.moment!.listing.layers));
    const pictures = new Uint8Array(places.length * size * size);
    places.forEach(({ layer, head }, i) => {
      const from = (layer * heads + head) * size * size;
      pictures.set(mean.subarray(from, from + size * size), i * size * size);
    });
    return (this.grouping = groupedBySimilarity(pictures, size, places.length));
  }

  /** Below a picture: which head it is, and what it is ordered by. */
  private caption(place: Place, index: number): string {
    const name = `${place.layer}.${place.head}`;
    if (this.sorting() !== 'similar') return `${name}  ${short(metricAt(this.atlas!, this.sorting(), place), 2)}`;
    const { order, group } = this.grouped();
    return `${name}  group ${group[order[index]!]! + 1}`;
  }

  /** The number that heads are ordered by, if any. */
  private sorting(): string {
    return this.moment!.selection.sort.replace(/^-/, '');
  }

  private grid(places: readonly Place[]): Grid {
    const isByLayer = this.sorting() !== 'similar' && !this.atlas?.metrics.includes(this.sorting());
    return isByLayer ? gridOfLayers(this.atlas!.layers, this.atlas!.heads, this.room()) : gridOfHeads(places.length, this.room());
  }

  /** The rest of the window. */
  private room(): Room {
    const top = this.atlasBox.getBoundingClientRect().top + window.scrollY;
    return { width: this.atlasBox.clientWidth || 960, height: Math.max(LEAST_HEIGHT_PX, window.innerHeight - top - BELOW_PX) };
  }

  private schedule(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  private draw(): void {
    const { atlas, moment } = this;
    if (!atlas || !moment) return;
    const start = performance.now();
    const places = this.places();
    const grid = this.grid(places);
    const { width, height } = sizeOf(grid);
    this.placeCells(places, grid, atlas, moment);
    this.cells.style.width = `${width}px`;
    this.cells.style.height = `${height}px`;
    this.paint(places, grid, width, height);
    this.element.dataset['frameMs'] = (performance.now() - start).toFixed(1);
    this.context.shown({ step: atlas.step, item: atlas.item, items: 0, mode: '', modeStep: 0, comparedWith: this.comparedWith });
  }

  private paint(places: readonly Place[], grid: Grid, width: number, height: number): void {
    const scale = Math.min(2, window.devicePixelRatio || 1);
    this.canvas.width = width * scale;
    this.canvas.height = height * scale;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const context = this.canvas.getContext('2d');
    if (!context) return;
    const theme = themeOf(this.element);
    context.scale(scale, scale);
    context.imageSmoothingEnabled = false;
    context.font = '12px system-ui, sans-serif';
    context.fillStyle = theme.text;
    if (!grid.captions) paintMargins(context, grid, this.moment!.listing.layers, theme.muted);
    places.forEach((place, i) => {
      const [x, y] = cellAt(grid, slotOf(grid, place, i));
      this.paintCell(context, place, x, y, grid.cell - 4);
      if (grid.captions) context.fillText(this.caption(place, i), x, y + grid.cell + CAPTION_PX - 6);
    });
  }

  private paintCell(context: CanvasRenderingContext2D, place: Place, x: number, y: number, side: number): void {
    const { size, heads } = this.atlas!;
    const from = (place.layer * heads + place.head) * size;
    if (this.image) context.drawImage(this.image, 0, from, size, size, x, y, side, side);
  }

  /** A button over each picture: what the pointer, the keyboard and readers of the page use. */
  private placeCells(places: readonly Place[], grid: Grid, atlas: Atlas, moment: Moment): void {
    while (this.cells.children.length > places.length) this.cells.lastElementChild!.remove();
    places.forEach((place, i) => {
      const cell = (this.cells.children[i] as HTMLButtonElement | undefined) ?? this.newCell();
      const [x, y] = cellAt(grid, slotOf(grid, place, i));
      const layer = moment.listing.layers[place.layer]!;
      Object.assign(cell.dataset, { layer: layer.layer, head: place.head });
      cell.style.left = `${x - 1}px`;
      cell.style.top = `${y - 1}px`;
      cell.style.width = cell.style.height = `${grid.cell - 1}px`;
      cell.tabIndex = i === Math.min(this.current, places.length - 1) ? 0 : -1;
      const metric = atlas.metrics[0];
      const value = metric === undefined ? '' : `, ${metric} ${short(metricAt(atlas, metric, place), 3)}`;
      cell.setAttribute('aria-label', `Layer ${layer.layer}, head ${place.head}${value}`);
      cell.title = atlas.metrics.map((name) => `${name} ${short(metricAt(atlas, name, place), 3)}`).join('\n');
    });
  }

  private newCell(): HTMLButtonElement {
    const cell = h('button', { type: 'button', class: 'at-cell', onclick: () => this.open(cell.dataset['layer']!, cell.dataset['head']!) });
    this.cells.append(cell);
    return cell;
  }

  private open(layer: string, head: string): void {
    this.context.change({ mode: 'head', layer, heads: wordOf(head, '0') });
  }

  private cellKey(event: KeyboardEvent): void {
    const grid = this.atlas && this.moment ? this.grid(this.places()) : null;
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -(grid?.columns ?? 0), ArrowDown: grid?.columns ?? 0 }[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation(); // arrows are the time bar's elsewhere
    const at = [...this.cells.children].indexOf(document.activeElement as Element);
    const next = this.cells.children[Math.min(this.cells.children.length - 1, Math.max(0, at + by))] as HTMLElement | undefined;
    if (!next) return;
    (this.cells.children[this.current] as HTMLElement | undefined)?.setAttribute('tabindex', '-1');
    this.current = [...this.cells.children].indexOf(next);
    next.tabIndex = 0;
    next.focus();
  }

  private fillTable(body: HTMLElement): void {
    const { atlas, moment } = this;
    if (!atlas || !moment) return;
    replace(body, headTable({
      atlas, layers: moment.listing.layers, places: this.places(), sort: moment.selection.sort,
      order: (sort) => this.context.change({ sort: wordOf(sort, DEFAULTS.sort) }), open: (layer, head) => this.open(layer, head),
    }));
  }

  private async svg(atlas: Atlas): Promise<SvgWriter> {
    const [width, height] = [parseFloat(this.canvas.style.width), parseFloat(this.canvas.style.height)];
    const svg = new SvgWriter(width, height, `Attention of all heads at step ${atlas.step}`);
    return svg.image(await dataAddressOf(this.canvas), 0, 0, width, height);
  }
}

function headsOf(layers: readonly LayerInfo[]): number[] {
  return layers.map((layer) => layer.heads);
}

function sideOf(moment: Moment): number {
  return placesOf(headsOf(moment.listing.layers)).length <= MOST_FINE_HEADS ? FINE : COARSE;
}
