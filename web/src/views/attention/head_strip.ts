// HeadStrip: a row with a box for each head of a layer, in the heads' colours, and marks for heads that share a key.
import { h } from '../../draw/dom';
import { onThemeChange, themeOf } from '../../draw/theme';

import type { LayerInfo } from './api';
import { button } from './controls';
import { lookOf } from './head_colours';

export class HeadStrip {
  readonly element: HTMLElement;
  private readonly boxes = h('div', { class: 'at-heads', role: 'group', 'aria-label': 'Heads' });
  private readonly forget: () => void;
  private layer: LayerInfo | undefined;
  private chosen: readonly number[] = [];

  /** `many`: several heads can be chosen; otherwise a click chooses one. */
  constructor(private readonly choose: (heads: readonly number[]) => void, private readonly many = true) {
    this.element = h(
      'div', { class: 'at-strip' }, this.boxes,
      many && button('All', () => this.choose(this.all())),
      many && button('Invert', () => this.invert()),
      many && h('span', { class: 'at-hint' }, 'Shift-click a head, or press , and . to see one alone'),
    );
    this.forget = onThemeChange(() => this.draw());
  }

  show(layer: LayerInfo, heads: readonly number[]): void {
    if (layer === this.layer && heads.join() === this.chosen.join()) return;
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
    const groups: HTMLElement[] = [];
    for (const head of this.all()) {
      const group = Math.floor(head / share);
      groups[group] ??= h('span', { class: share > 1 ? 'at-group at-shared' : 'at-group', title: share > 1 ? `These heads share key head ${group}` : undefined });
      groups[group].append(this.box(head, dark));
    }
    this.boxes.replaceChildren(...groups);
    if (focused !== undefined) this.boxes.querySelector<HTMLElement>(`[data-head="${focused}"]`)?.focus();
  }

  private box(head: number, dark: boolean): HTMLElement {
    const look = lookOf(head, dark);
    const on = this.chosen.includes(head);
    const swatch = h('span', { class: 'at-swatch', 'aria-hidden': 'true' });
    swatch.style.borderTopColor = look.colour;
    swatch.style.borderTopStyle = look.dash.length === 0 ? 'solid' : look.dash[0]! > 3 ? 'dashed' : 'dotted';
    return h(
      'button',
      {
        type: 'button', class: 'at-head', 'aria-pressed': String(on), 'aria-label': `Head ${head}`, 'data-head': head,
        onclick: (event: MouseEvent) => (event.shiftKey || !this.many ? this.choose([head]) : this.toggle(head)),
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
    this.choose(next.length === 0 ? [head] : next);
  }

  private invert(): void {
    const next = this.all().filter((head) => !this.chosen.includes(head));
    this.choose(next.length === 0 ? this.all() : next);
  }
}
