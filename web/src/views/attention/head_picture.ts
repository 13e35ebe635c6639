// HeadPicture: two columns of tokens and the links between them. Scrolls; only what is in sight is drawn.
import { shown } from '../../data/text';
import { h } from '../../draw/dom';
import type { SvgWriter } from '../../draw/svg';
import { onThemeChange, themeOf } from '../../draw/theme';

import { channelsOf, lookIn } from './head_colours';
import { type LinkLook, type Links, strokeOf } from './links';
import { Raster } from './raster';
import type { TokenRef } from './selection';
import { ROW_PX, type Shares, TokenColumn, type TokenHandlers, scrollTopFor, yOf } from './token_column';
import type { Weights } from './weights';

export type { Shares };

/** Beyond that many links in sight, pixels are as large as CSS pixels: sharper ones would take too long. */
const MOST_SHARP = 3000;

/** What shows links between tokens. */
export interface LinkPicture {
  readonly element: HTMLElement;
  show(weights: Weights, queryCount: number, pins: readonly TokenRef[]): void;
  showLinks(links: Links, look: LinkLook, description: string): void;
  /** What each head gives to each token, where there is room for it. */
  showShares(queries: readonly Shares[], keys: readonly Shares[]): void;
  /** As a file; undefined: as two columns. */
  drawing?(description: string): SvgWriter;
  destroy(): void;
}

export type MakePicture = (handlers: TokenHandlers, drawn: (ms: number, inSight: number) => void) => LinkPicture;

/** All tokens are made to fit into that share of the window. */
const WINDOW_SHARE = 0.65;

export class HeadPicture implements LinkPicture {
  readonly element: HTMLElement;
  private readonly scroller: HTMLElement;
  private readonly middle = h('div', { class: 'at-links' });
  private readonly canvas = h('canvas', { role: 'img' });
  private readonly queries: TokenColumn;
  private readonly keys: TokenColumn;
  private readonly observer: ResizeObserver | null;
  private readonly forget: () => void;
  private frame = 0;
  private revealing: number | null = null;
  private raster: Raster | null = null;
  private weights: Weights | null = null;
  private queryCount = 0;
  private links: Links | null = null;
  private look: LinkLook = { mapping: 'width', curve: 'linear', rows: 'readable', widest: 1 };
  private rowPx = ROW_PX;

  constructor(handlers: TokenHandlers, private readonly drawn: (ms: number, inSight: number) => void) {
    this.queries = new TokenColumn('query', 'Queries', handlers);
    this.keys = new TokenColumn('key', 'Keys', handlers);
    this.middle.append(this.canvas);
    this.scroller = h('div', { class: 'at-scroll', onscroll: () => this.schedule() }, this.queries.element, this.middle, this.keys.element);
    this.element = h(
      'div', { class: 'at-picture' },
      h('div', { class: 'at-picture-titles' }, h('span', {}, 'query: who looks'), h('span', {}, 'key: what is looked at')),
      this.scroller,
    );
    this.observer = typeof ResizeObserver === 'undefined' ? null : new ResizeObserver(() => this.schedule());
    this.observer?.observe(this.scroller);
    this.forget = onThemeChange(() => this.schedule());
  }

  show(weights: Weights, queryCount: number, pins: readonly TokenRef[]): void {
    const pin = pins[0];
    if (!this.weights && pin) this.revealing = pin.index; // a link to a token shows it
    this.weights = weights;
    this.queryCount = queryCount;
    const pinned = (side: string) => new Set(pins.filter((pin) => pin.side === side).map((pin) => pin.index));
    this.queries.show({ count: queryCount, label: (index) => weights.queryLabel(index) }, pinned('query'));
    this.keys.show({ count: weights.keyCount, label: (index) => weights.keyLabel(index) }, pinned('key'));
    this.schedule();
  }

  showLinks(links: Links, look: LinkLook, description: string): void {
    this.links = links;
    this.look = look;
    this.canvas.setAttribute('aria-label', shown(description));
    this.schedule();
  }

  showShares(queries: readonly Shares[], keys: readonly Shares[]): void {
    this.queries.showShares(queries);
    this.keys.showShares(keys);
  }

  destroy(): void {
    cancelAnimationFrame(this.frame);
    this.observer?.disconnect();
    this.forget();
  }

  private schedule(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  private draw(): void {
    const start = performance.now();
    this.rowPx = this.rowHeight();
    const height = this.rowPx < ROW_PX ? this.rowPx * this.tokens() : this.scroller.clientHeight || 20 * ROW_PX; // a document without a layout has a height too
    if (this.revealing !== null) this.scroller.scrollTop = scrollTopFor(this.revealing, height);
    this.revealing = null;
    const { scrollTop } = this.scroller;
    this.queries.scrolled(scrollTop, height, this.rowPx);
    this.keys.scrolled(scrollTop, height, this.rowPx);
    this.middle.style.height = `${height}px`;
    const inSight = this.weights && this.links ? this.drawLinks(this.weights, this.links, scrollTop, this.middle.clientWidth, height) : 0;
    this.drawn(performance.now() - start, inSight);
  }

  private tokens(): number {
    return Math.max(1, this.queryCount, this.weights?.keyCount ?? 0);
  }

  private rowHeight(): number {
    return this.look.rows === 'readable' ? ROW_PX : Math.min(ROW_PX, (WINDOW_SHARE * window.innerHeight) / this.tokens());
  }

  private drawLinks(weights: Weights, links: Links, top: number, width: number, height: number): number {
    const context = this.canvas.getContext('2d');
    const seen = inSight(links, top, height, this.rowPx);
    if (!context || width <= 0) return seen.length;
    const scale = seen.length > MOST_SHARP ? 1 : Math.min(2, window.devicePixelRatio || 1);
    const raster = this.rasterOf(Math.round(width * scale), Math.round(height * scale));
    const { dark } = themeOf(this.element);
    for (let head = 0, at = 0; head < weights.heads.length; head++) {
      const look = lookIn(weights, head, dark);
      const dash = weights.heads.length === 1 ? [] : look.dash.map((length) => length * scale);
      for (; at < seen.length && links.head[seen[at]!] === head; at++) {
        const link = seen[at]!;
        const stroke = strokeOf(links.weight[link]!, this.look);
        raster.add({
          from: (yOf(links.query[link]!, this.rowPx) - top) * scale, to: (yOf(links.key[link]!, this.rowPx) - top) * scale,
          width: stroke.width * scale, opacity: stroke.opacity,
        }, dash);
      }
      raster.flush(...channelsOf(look.colour));
    }
    this.canvas.width = raster.width;
    this.canvas.height = raster.height;
    context.putImageData(raster.toImage(), 0, 0);
    return seen.length;
  }

  private rasterOf(width: number, height: number): Raster {
    if (this.raster?.width !== width || this.raster.height !== height) this.raster = new Raster(width, height);
    this.raster.clear();
    return this.raster;
  }
}

/** The places of the links that cross what is in sight; links are in the order of their heads. */
function inSight(links: Links, top: number, height: number, rowPx: number): number[] {
  const seen: number[] = [];
  for (let i = 0; i < links.count; i++) {
    const from = yOf(links.query[i]!, rowPx);
    const to = yOf(links.key[i]!, rowPx);
    if (Math.max(from, to) >= top - ROW_PX && Math.min(from, to) <= top + height + ROW_PX) seen.push(i);
  }
  return seen;
}
