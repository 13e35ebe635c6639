// HeadStrip: a row with a box for each head of a layer, in the heads' colours, and marks for heads that share a key.
import { h } from '../../draw/dom';
import { onThemeChange, themeOf } from '../../draw/theme';

import type { LayerInfo } from './api';
import { button } from './controls';
import { lookOf, slotsOf } from './head_colours';
import { MOST_HEADS } from './selection';

export interface StripRules {
  /** Several heads can be chosen; otherwise a click chooses one. */
  many: boolean;
  /** At most so many of them, and what is said to who wants more. */
  most?: number;
  refusal?: string;
}

export class HeadStrip {
  readonly element: HTMLElement;
  private readonly said = h('span', { class: 'at-refusal', role: 'status' });
  private readonly boxes = h('div', { class: 'at-heads', role: 'group', 'aria-label': 'Heads' });
  private readonly forget: () => void;
  private layer: LayerInfo | undefined;
  private chosen: readonly number[] = [];
  private rules: StripRules;

  /** `chosenAll`: the button for all heads, which a strip of a few may answer in a way of its own. */
  constructor(
    private readonly choose: (heads: readonly number[]) => void, rules: StripRules, chosenAll?: (heads: readonly number[]) => void,
  ) {
    this.rules = rules;
    const { many } = rules;
    this.element = h(
      'div', { class: 'at-strip' }, this.boxes,
      many && button('All', () => (chosenAll ?? this.choose)(this.all())),
      many && button('Invert', () => this.invert()),
      this.said,
      many && h('span', { class: 'at-hint' }, 'Shift-click a head, or press , and . to see one alone'),
    );
    this.forget = onThemeChange(() => this.draw());
  }

  show(layer: LayerInfo, heads: readonly number[], rules = this.rules): void {
    if (layer === this.layer && heads.join() === this.chosen.join() && rules === this.rules) return;
    this.rules = rules;
    this.said.textContent = '';
    this.layer = layer;
    this.chosen = heads;
    this.draw();
  }

  destroy(): void {
    this.forget();
  }

  private draw(): void {
    const { layer } = this;
    if (!layer) return;
    const focused = this.boxes.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset['head'] : undefined;
    const { dark } = themeOf(this.element);
    const share = layer.key_value_heads > 0 ? layer.heads / layer.key_value_heads : 1;
    const slots = slotsOf(this.chosen);
    const groups: HTMLElement[] = [];
    for (const head of this.all()) {
      const group = Math.floor(head / share);
      groups[group] ??= h('span', { class: share > 1 ? 'at-group at-shared' : 'at-group', title: share > 1 ? `These heads share key head ${group}` : undefined });
      groups[group].append(this.box(head, slots[this.chosen.indexOf(head)], dark));
    }
    this.boxes.replaceChildren(...groups);
    if (focused !== undefined) this.boxes.querySelector<HTMLElement>(`[data-head="${focused}"]`)?.focus();
  }

  /** `slot`: its colour; a head that is not shown has none. */
  private box(head: number, slot: number | undefined, dark: boolean): HTMLElement {
    const swatch = h('span', { class: 'at-swatch', 'aria-hidden': 'true' });
    if (slot !== undefined && this.chosen.length <= MOST_HEADS) {
      const look = lookOf(slot, dark);
      swatch.style.borderTopColor = look.colour;
      swatch.style.borderTopStyle = look.dash.length === 0 ? 'solid' : look.dash[0]! > 3 ? 'dashed' : 'dotted';
    }
    return h(
      'button',
      {
        type: 'button', class: 'at-head', 'aria-pressed': String(slot !== undefined), 'aria-label': `Head ${head}`, 'data-head': head,
        onclick: (event: MouseEvent) => (event.shiftKey || !this.rules.many ? this.choose([head]) : this.toggle(head)),
        ondblclick: () => this.choose([head]),
      },
      swatch, String(head),
    );
  }

  private all(): number[] {
    return Array.from({ length: this.layer?.heads ?? 0 }, (_, head) => head);
  }

  private toggle(head: number): void {
    const next = this.chosen.includes(head) ? this.chosen.filter((other) => other !== head) : [...this.chosen, head];
    this.chooseSome(next.length === 0 ? [head] : next);
  }

  private invert(): void {
    const next = this.all().filter((head) => !this.chosen.includes(head));
    this.chooseSome(next.length === 0 ? this.all() : next);
  }

  private chooseSome(heads: readonly number[]): void {
    const isTooMany = heads.length > (this.rules.most ?? Infinity);
    if (isTooMany) this.said.textContent = this.rules.refusal ?? '';
    else this.choose(heads);
  }
}
