// TextPane: the text as people read it, each token marked by how much of a chosen token's attention it gets.
import { h, replace } from '../../draw/dom';
import { csvOf, fileName, npyOf } from '../../draw/files';
import { count, exact, short } from '../../draw/numbers';
import type { SvgWriter } from '../../draw/svg';
import type { Snapshot, SnapshotKind } from '../view';

import { button } from './controls';
import { pngFrom } from './drawing';
import { HeadStrip } from './head_strip';
import { largestSize } from './neuron_math';
import { forFile } from './numbers';
import { Latest, type Moment, type Pane, type PaneContext } from './pane';
import { wordOf } from './selection';
import { textSvg } from './text_svg';
import { TokenCard } from './token_card';
import { continuesWord, isSpecial, marksBeginnings, readable } from './tokens';
import type { Weights } from './weights';
import { WeightsFeed } from './weights_feed';

/** Tokens on one page of a long text. */
export const PAGE_TOKENS = 2048;

export class TextPane implements Pane {
  private readonly latest = new Latest();
  private readonly feed: WeightsFeed;
  private readonly strip: HeadStrip;
  private readonly pages = h('div', { class: 'at-fields', hidden: true });
  private readonly legend = h('p', { class: 'at-note' });
  private readonly text = h('div', { class: 'at-text', role: 'group', 'aria-label': 'The text' });
  private readonly card = new TokenCard();
  private row: Weights | null = null;
  private shares: Float32Array = new Float32Array(0);
  private current = 0;

  constructor(private readonly element: HTMLElement, private readonly context: PaneContext) {
    this.strip = new HeadStrip((heads) => context.change({ heads: wordOf([...heads].sort((a, b) => a - b).join(','), '0') }), { many: true });
    this.feed = new WeightsFeed(context);
    this.text.addEventListener('keydown', (event) => this.tokenKey(event));
    this.text.addEventListener('click', (event) => this.click(event));
    element.classList.add('at-text-pane');
    element.append(this.strip.element, this.legend, this.pages, h('div', { class: 'at-beside' }, this.text, this.card.element));
  }

  show(moment: Moment): void {
    const { selection } = moment;
    this.strip.show(moment.layer, selection.heads);
    const mean: Moment = { ...moment, selection: { ...selection, together: 'mean', words: false } };
    this.element.setAttribute('aria-busy', 'true');
    this.latest.run(this.feed.rows(mean, [selection.query]), (row) => {
      this.element.removeAttribute('aria-busy');
      this.take(moment, row);
    }, (error) => {
      this.element.removeAttribute('aria-busy');
      this.context.fail(error);
    });
  }

  async snapshot(kind: SnapshotKind): Promise<Snapshot | undefined> {
    const { row, shares } = this;
    if (!row) return undefined;
    const { layer, step, item } = row.origin;
    const name = fileName(this.context.run, 'text', `layer${layer}`, `query${row.queries[0]}`, `step${step}`, `item${item}`);
    const data = kind === 'csv' ? csvOf(this.rows(row))
      : kind === 'npy' ? npyOf('F32', [shares.length], new Uint8Array(shares.slice().buffer))
        : kind === 'png' ? await pngFrom(this.svg(row)) : this.svg(row).toBlob();
    return data && { fileName: `${name}.${kind}`, data };
  }

  destroy(): void {
    this.latest.drop();
    this.strip.destroy();
  }

  private take(moment: Moment, row: Weights): void {
    this.row = row;
    const query = row.queries[0]!;
    this.shares = row.given(query)!;
    const most = largestSize(this.shares);
    const { origin } = row;
    Object.assign(this.element.dataset, {
      layer: origin.layer, heads: moment.selection.heads.join(','), step: origin.step, item: origin.item, query,
      length: origin.length, compared: row.comparedWith ?? '',
    });
    replace(this.legend, `${legendOf(row, query)}: the strongest mark is ${short(most, 3)}. Click a token, or go with the arrows and press Enter, to see where it looks. ${row.labels.note}`);
    this.drawText(row, moment, most);
    this.card.show(row, { side: 'query', index: query }, null);
    this.context.shown({ ...origin, comparedWith: row.comparedWith });
  }

  private rows(row: Weights): (string | number)[][] {
    const { layer, step, item } = row.origin;
    const header = ['step', 'item', 'layer', 'heads', 'query', 'key', 'key_token', row.comparedWith === null ? 'weight' : 'change'];
    return [header, ...Array.from(this.shares, (share, key) => [
      step, item, layer, this.element.dataset['heads']!.replace(/,/g, ' '), row.queries[0]!, key, row.keyLabel(key) ?? '', forFile(share),
    ])];
  }

  /** Of the page that is shown. */
  private svg(row: Weights): SvgWriter {
    const marks = row.labels.key !== null && marksBeginnings(row.labels.key);
    const most = largestSize(this.shares) || 1;
    const words = [...this.text.querySelectorAll<HTMLElement>('[data-key]')].map((element) => {
      const key = Number(element.dataset['key']);
      const label = row.keyLabel(key);
      return {
        text: element.textContent ?? '', mark: this.shares[key]! / most, isChange: row.comparedWith !== null, chosen: key === row.queries[0],
        joined: label !== undefined && continuesWord(label, marks),
      };
    });
    return textSvg(words, this.legend.textContent!.replace(/ Click.*$/, ''));
  }

  private drawText(row: Weights, moment: Moment, most: number): void {
    const first = this.firstOfPage(moment, row);
    const last = Math.min(row.keyCount, first + PAGE_TOKENS);
    const labels = row.labels.key;
    const marks = labels !== null && marksBeginnings(labels);
    const focused = this.text.contains(document.activeElement);
    this.current = Math.min(last - 1, Math.max(first, focused ? this.current : moment.selection.query));
    const parts: (Node | string)[] = [];
    for (let key = first; key < last; key++) {
      const label = labels?.[key];
      if (key > first && !(label !== undefined && continuesWord(label, marks))) parts.push(' ');
      parts.push(this.token(key, label, this.shares[key]!, most, key === row.queries[0], row.comparedWith !== null));
    }
    this.text.replaceChildren(...parts);
    if (focused) this.tokenElement(this.current)?.focus();
    this.drawPages(first, last, row.keyCount);
  }

  private token(key: number, label: string | undefined, share: number, most: number, chosen: boolean, isChange: boolean): HTMLElement {
    const element = h('span', {
      class: isSpecial(label) ? 'at-word at-special' : 'at-word', role: 'button', tabindex: key === this.current ? 0 : -1, 'data-key': key,
      'data-weight': exact(share, 'F32'), 'aria-pressed': String(chosen), 'aria-label': `${label ?? 'token'} ${key}, ${isChange ? 'change' : 'weight'} ${short(share, 3)}`,
      title: `token ${key}: ${short(share, 4)}`,
    }, label === undefined ? String(key) : label === '' ? '(padding)' : readable(label));
    // Colour and the line below it say the same.
    const part = most > 0 ? Math.abs(share) / most : 0;
    element.dataset['sign'] = signOf(share, isChange);
    element.style.setProperty('--at-share', String(Math.round(100 * Math.sqrt(part))));
    element.style.borderBottomWidth = `${Math.round(4 * Math.sqrt(part))}px`;
    return element;
  }

  private firstOfPage(moment: Moment, row: Weights): number {
    const { from } = moment.selection;
    const wanted = from ?? moment.selection.query;
    return Math.max(0, Math.floor(Math.min(wanted, row.keyCount - 1) / PAGE_TOKENS) * PAGE_TOKENS);
  }

  private drawPages(first: number, last: number, all: number): void {
    this.pages.hidden = all <= PAGE_TOKENS;
    const go = (from: number) => () => this.context.change({ from: String(from) });
    const [before, after] = [button('Before', go(first - PAGE_TOKENS)), button('After', go(last))];
    before.disabled = first === 0;
    after.disabled = last >= all;
    replace(this.pages, before, `Tokens ${count(first)} to ${count(last - 1)} of ${count(all)}`, after);
  }

  private tokenElement(key: number): HTMLElement | null {
    return this.text.querySelector<HTMLElement>(`[data-key="${key}"]`);
  }

  private click(event: MouseEvent): void {
    const key = (event.target as Element).closest<HTMLElement>('[data-key]')?.dataset['key'];
    if (key !== undefined) this.choose(Number(key));
  }

  private choose(query: number): void {
    this.current = query;
    this.context.change({ query: wordOf(String(query), '0') });
  }

  private tokenKey(event: KeyboardEvent): void {
    const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 10, ArrowUp: -10 }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Enter' || event.key === ' ') this.choose(this.current);
    else if (by !== undefined) {
      const next = this.tokenElement(this.current + by);
      if (next) {
        this.tokenElement(this.current)?.setAttribute('tabindex', '-1');
        this.current += by;
        next.tabIndex = 0;
        next.focus();
      }
    } else return;
    event.preventDefault();
    event.stopPropagation(); // arrows and the space bar are the time bar's elsewhere
  }
}

function legendOf(row: Weights, query: number): string {
  const who = row.title.toLowerCase();
  if (row.comparedWith === null) return `Marked by the weight that token ${query} gives, ${who}`;
  return `Marked by the change of the weight that token ${query} gives, ${who}, from ${row.comparedWith}: ` +
    'orange and solid where it is larger now, blue and dashed where it is smaller';
}

/** '' for a weight, which has no sign. */
function signOf(share: number, isChange: boolean): '' | 'more' | 'less' {
  return !isChange ? '' : share < 0 ? 'less' : 'more';
}
