// ArcPicture: the text as one line, and each link as an arc over it. Scrolls; only what is in sight is drawn.
import { shown } from '../../data/text';
import { h, replace } from '../../draw/dom';
import { count } from '../../draw/numbers';
import { SvgWriter } from '../../draw/svg';
import { onThemeChange, themeOf } from '../../draw/theme';

import { type ArcLayout, LINE_PX, arcOf, heightOf, layoutOf, middleOf, pathOf } from './arc_layout';
import { WHOLE_TOKENS } from './api';
import { lookIn } from './head_colours';
import type { LinkPicture } from './head_picture';
import { type LinkLook, type Links, type Stroke, strokeOf } from './links';
import type { TokenRef } from './selection';
import type { TokenHandlers } from './token_column';
import { isSpecial } from './tokens';
import type { Weights } from './weights';

const MARGIN_PX = 30; // above a drawing, for its title

export class ArcPicture implements LinkPicture {
  readonly element: HTMLElement;
  private readonly canvas = h('canvas', { role: 'img' });
  private readonly line = h('div', { class: 'at-line', role: 'group', 'aria-label': 'Tokens' });
  private readonly inner = h('div', { class: 'at-arcs-inner' }, this.canvas, this.line);
  private readonly scroller = h('div', { class: 'at-arcs', onscroll: () => this.schedule() }, this.inner);
  private readonly refusal = h('p', { class: 'at-note', hidden: true });
  private readonly observer: ResizeObserver | null;
  private readonly forget: () => void;
  private frame = 0;
  private current = 0;
  private weights: Weights | null = null;
  private links: Links | null = null;
  private look: LinkLook | null = null;
  private layout: ArcLayout = layoutOf([]);

  constructor(private readonly handlers: TokenHandlers, private readonly drawn: (ms: number, inSight: number) => void) {
    this.element = h(
      'div', { class: 'at-picture' },
      h('div', { class: 'at-picture-titles' }, h('span', {}, 'above: looks to the right'), h('span', {}, 'below: looks to the left')),
      this.refusal, this.scroller,
    );
    this.line.addEventListener('keydown', (event) => this.key(event));
    this.observer = typeof ResizeObserver === 'undefined' ? null : new ResizeObserver(() => this.schedule());
    this.observer?.observe(this.scroller);
    this.forget = onThemeChange(() => this.schedule());
  }

  show(weights: Weights, _queryCount: number, pins: readonly TokenRef[]): void {
    const refusal = refusalOf(weights);
    replace(this.refusal, refusal);
    this.refusal.hidden = refusal === '';
    this.scroller.hidden = refusal !== '';
    this.weights = refusal === '' ? weights : null;
    this.layout = layoutOf(this.texts());
    this.current = Math.min(this.current, Math.max(0, weights.keyCount - 1));
    this.dress(new Set(pins.map((pin) => pin.index)));
    this.schedule();
  }

  showLinks(links: Links, look: LinkLook, description: string): void {
    this.links = links;
    this.look = look;
    this.canvas.setAttribute('aria-label', shown(description));
    this.schedule();
  }

  /** The arcs say it. */
  showShares(): void {}

  drawing(description: string): SvgWriter {
    const svg = new SvgWriter(Math.max(480, this.layout.edges.at(-1)! + 16), heightOf(this.layout) + MARGIN_PX, description);
    svg.add('rect', { width: '100%', height: '100%', fill: '#ffffff' });
    svg.text(8, 16, description.replace(/ Strongest: .*$/, ''), { fill: '#16202a' });
    svg.group({ transform: `translate(8 ${MARGIN_PX})`, 'font-family': 'monospace', fill: '#16202a' }, () => {
      this.eachLink(false, 0, Infinity, (path, colour, stroke, dash) => svg.add('path', {
        d: path, fill: 'none', stroke: colour, 'stroke-width': stroke.width, 'stroke-opacity': stroke.opacity,
        'stroke-dasharray': dash.length > 0 ? dash.join(' ') : undefined,
      }));
      const y = this.layout.halfHeight + LINE_PX / 2 + 4;
      this.texts().forEach((text, i) => svg.text(middleOf(this.layout, i), y, text, { 'text-anchor': 'middle' }));
    });
    return svg;
  }

  destroy(): void {
    cancelAnimationFrame(this.frame);
    this.observer?.disconnect();
    this.forget();
  }

  private texts(): string[] {
    const { weights } = this;
    return Array.from({ length: weights?.keyCount ?? 0 }, (_, i) => {
      const label = weights!.keyLabel(i);
      return label === undefined ? String(i) : label === '' ? '(padding)' : shown(label);
    });
  }

  /** A button for each token: they stay while only their texts change. */
  private dress(pinned: ReadonlySet<number>): void {
    const texts = this.texts();
    while (this.line.children.length > texts.length) this.line.lastElementChild!.remove();
    texts.forEach((text, i) => {
      const button = (this.line.children[i] as HTMLButtonElement | undefined) ?? this.newToken(i);
      button.replaceChildren(h('bdi', {}, text));
      button.setAttribute('aria-label', `Token ${i}: ${text}`);
      button.setAttribute('aria-pressed', String(pinned.has(i)));
      button.classList.toggle('at-special', isSpecial(this.weights!.keyLabel(i)));
      button.style.left = `${this.layout.edges[i]}px`;
      button.style.width = `${this.layout.edges[i + 1]! - this.layout.edges[i]!}px`;
      button.tabIndex = i === this.current ? 0 : -1;
    });
    this.inner.style.width = `${this.layout.edges.at(-1)}px`;
    this.inner.style.height = `${heightOf(this.layout)}px`;
    this.line.style.top = `${this.layout.halfHeight}px`;
  }

  private newToken(index: number): HTMLButtonElement {
    const focus = (to: number | null) => () => this.handlers.focus('query', to);
    const button = h('button', {
      type: 'button', class: 'at-token', 'data-side': 'query', 'data-index': index, onclick: () => this.handlers.pick('query', index),
      onpointerenter: focus(index), onpointerleave: focus(null), onfocus: focus(index), onblur: focus(null),
    });
    this.line.append(button);
    return button;
  }

  private key(event: KeyboardEvent): void {
    const by = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation(); // arrows are the time bar's elsewhere
    const buttons = this.line.children as HTMLCollectionOf<HTMLElement>;
    buttons[this.current]!.tabIndex = -1;
    this.current = Math.min(buttons.length - 1, Math.max(0, this.current + by));
    buttons[this.current]!.tabIndex = 0;
    buttons[this.current]!.focus();
  }

  private schedule(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  private draw(): void {
    const start = performance.now();
    const [width, height] = [this.scroller.clientWidth, heightOf(this.layout)];
    const { scrollLeft } = this.scroller;
    const scale = Math.min(2, window.devicePixelRatio || 1);
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const context = this.canvas.getContext('2d');
    context?.setTransform(scale, 0, 0, scale, -scrollLeft * scale, 0);
    const { dark } = themeOf(this.element);
    const inSight = this.eachLink(dark, scrollLeft, scrollLeft + (width || Infinity), (path, colour, stroke, dash) => {
      if (!context) return;
      context.strokeStyle = colour;
      context.globalAlpha = stroke.opacity;
      context.lineWidth = stroke.width;
      context.setLineDash([...dash]);
      context.stroke(new Path2D(path));
    });
    this.drawn(performance.now() - start, inSight);
  }

  /** Puts those that cross what is in sight. How many there are. */
  private eachLink(
    dark: boolean, left: number, right: number, put: (path: string, colour: string, stroke: Stroke, dash: readonly number[]) => void,
  ): number {
    const { weights, links, look, layout } = this;
    if (!weights || !links || !look) return 0;
    let found = 0;
    for (let i = 0; i < links.count; i++) {
      if (links.query[i]! >= weights.keyCount) continue;
      const arc = arcOf(layout, links.query[i]!, links.key[i]!);
      if (arc.x + arc.across < left || arc.x - arc.across > right) continue;
      const head = lookIn(weights, links.head[i]!, dark);
      put(pathOf(arc), head.colour, strokeOf(links.weight[i]!, look), weights.heads.length > 1 ? head.dash : []);
      found++;
    }
    return found;
  }
}

/** Why there can be no arcs; '' when there can. */
function refusalOf(weights: Weights): string {
  if (weights.keyCount > WHOLE_TOKENS) {
    return `${count(weights.keyCount)} tokens are too many for one line: choose the first ones, or look at the matrix.`;
  }
  const { query, key } = weights.labels;
  const hasSameTexts = !query || !key || JSON.stringify(query) === JSON.stringify(key);
  const isSame = weights.origin.length === weights.origin.keyLength && hasSameTexts;
  return isSame ? '' : 'Queries and keys are of different texts: the links are between two lines, see Head.';
}
