// TokenColumn: the tokens of one side as buttons, one below the other. Only those in sight are elements.
import { shown } from '../../data/text';
import { h } from '../../draw/dom';

import type { Side } from './selection';
import { isSpecial } from './tokens';

export const ROW_PX = 24;
const BEYOND = 8; // rows kept above and below what is in sight

/** The middle of a token's row. */
export function yOf(index: number, rowPx = ROW_PX): number {
  return (index + 0.5) * rowPx;
}

/** Where to scroll to for a token to be in sight: nowhere when it is on the first page. */
export function scrollTopFor(index: number, height: number): number {
  return (index + 1) * ROW_PX <= height ? 0 : Math.max(0, yOf(index) - height / 2);
}

export interface TokenHandlers {
  /** The pointer or the keyboard is at a token; null: at none. */
  focus(side: Side, index: number | null): void;
  /** A token was clicked. */
  pick(side: Side, index: number): void;
}

/** What one head gives to each token. */
export interface Shares {
  values: ArrayLike<number>;
  colour: string;
}

/** So high are all bars of a token together: the text above them stays readable. */
const SHARES_PX = 8;

function percent(share = 0): string {
  return `${Math.round(1000 * Math.min(1, Math.max(0, share))) / 10}%`;
}

export interface TokenTexts {
  count: number;
  label(index: number): string | undefined;
}

export class TokenColumn {
  readonly element: HTMLElement;
  private texts: TokenTexts = { count: 0, label: () => undefined };
  private pressed: ReadonlySet<number> = new Set();
  private shares: readonly Shares[] = [];
  private current = 0;
  private range: [number, number] = [0, 0];
  private rowPx = ROW_PX;
  private every = 1;
  private readonly buttons = new Map<number, HTMLButtonElement>();

  constructor(private readonly side: Side, title: string, private readonly handlers: TokenHandlers) {
    this.element = h('div', {
      class: `at-tokens at-tokens-${side}`, role: 'group', 'aria-label': title, onkeydown: (event: KeyboardEvent) => this.key(event),
      onpointerleave: () => this.handlers.focus(this.side, null),
    });
  }

  show(texts: TokenTexts, pressed: ReadonlySet<number>): void {
    this.texts = texts;
    this.pressed = pressed;
    this.current = Math.min(this.current, Math.max(0, texts.count - 1));
    for (const [index, element] of this.buttons) {
      if (index >= texts.count) this.drop(index, element);
      else this.dress(element, index);
    }
    this.build();
  }

  /** A bar below each token for each of these, as long as its share. */
  showShares(shares: readonly Shares[]): void {
    this.shares = shares;
    for (const [index, element] of this.buttons) this.dressShare(element, index);
  }

  /** What is in sight, in pixels from the column's top. Where rows are lower than a button only some have one. */
  scrolled(top: number, height: number, rowPx = ROW_PX): void {
    this.range = [Math.max(0, Math.floor(top / rowPx) - BEYOND), Math.ceil((top + height) / rowPx) + BEYOND];
    this.element.style.height = `${this.texts.count * rowPx}px`;
    if (rowPx !== this.rowPx) {
      this.rowPx = rowPx;
      this.every = Math.ceil(ROW_PX / rowPx);
      for (const [index, element] of this.buttons) this.drop(index, element);
    }
    this.build();
  }

  private build(): void {
    const [begin, end] = [this.range[0], Math.min(this.range[1], this.texts.count)];
    for (const [index, element] of this.buttons) {
      if ((index < begin || index >= end) && element !== document.activeElement) this.drop(index, element);
    }
    for (let index = Math.ceil(begin / this.every) * this.every; index < end; index += this.every) if (!this.buttons.has(index)) this.make(index);
    for (const index of this.pressed) if (index >= begin && index < end && !this.buttons.has(index)) this.make(index);
    this.tabStop();
  }

  private drop(index: number, element: HTMLElement): void {
    element.remove();
    this.buttons.delete(index);
  }

  private make(index: number): void {
    const element = h(
      'button',
      {
        type: 'button', class: 'at-token', 'data-side': this.side, 'data-index': index,
        onpointerenter: () => this.handlers.focus(this.side, index),
        onfocus: () => {
          this.current = index;
          this.tabStop();
          this.handlers.focus(this.side, index);
        },
        onblur: () => this.handlers.focus(this.side, null),
        onclick: () => this.handlers.pick(this.side, index),
      },
    );
    const last = this.texts.count * this.rowPx - ROW_PX;
    element.style.top = `${Math.max(0, Math.min(last, yOf(index, this.rowPx) - ROW_PX / 2))}px`;
    this.buttons.set(index, element);
    this.dress(element, index);
    // In the order of the tokens, so that a screen reader reads a sentence.
    let before: HTMLElement | null = null;
    for (const child of this.element.children) {
      if (Number((child as HTMLElement).dataset['index']) > index) {
        before = child as HTMLElement;
        break;
      }
    }
    this.element.insertBefore(element, before);
  }

  private dress(element: HTMLButtonElement, index: number): void {
    const label = this.texts.label(index);
    element.replaceChildren(h('span', { class: 'at-index', 'aria-hidden': 'true' }, index), h('bdi', {}, label === '' ? '(padding)' : (label ?? '–')));
    element.setAttribute('aria-label', shown(`${this.side === 'query' ? 'Query' : 'Key'} ${index}${label === undefined ? '' : `: ${label}`}`));
    element.setAttribute('aria-pressed', String(this.pressed.has(index)));
    element.classList.toggle('at-special', isSpecial(label));
    this.dressShare(element, index);
  }

  private dressShare(element: HTMLElement, index: number): void {
    const [height, side] = [SHARES_PX / this.shares.length, this.side === 'query' ? 'right' : 'left'];
    element.style.backgroundImage = this.shares.map(({ colour }) => `linear-gradient(${colour}, ${colour})`).join(', ');
    element.style.backgroundSize = this.shares.map(({ values }) => `${percent(values[index])} ${height}px`).join(', ');
    element.style.backgroundPosition = this.shares.map((_, i) => `${side} 0 bottom ${i * height}px`).join(', ');
  }

  /** One token of the column can be reached by Tab, the others by arrows. */
  private tabStop(): void {
    const reached = this.buttons.has(this.current) ? this.current : (this.buttons.keys().next().value ?? 0);
    for (const [index, element] of this.buttons) element.tabIndex = index === reached ? 0 : -1;
  }

  private key(event: KeyboardEvent): void {
    const page = 10;
    const moves: Record<string, number> = {
      ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.texts.count, End: this.texts.count,
    };
    const by = moves[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation(); // up and down are the layers' keys elsewhere
    this.moveTo(Math.min(this.texts.count - 1, Math.max(0, this.current + by)));
  }

  private moveTo(index: number): void {
    this.current = index;
    if (!this.buttons.has(index)) this.make(index);
    this.buttons.get(index)!.focus();
  }
}
