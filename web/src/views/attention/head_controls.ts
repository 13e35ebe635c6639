// HeadControls: which heads, how many tokens, which links, and how they look.
import { h, replace } from '../../draw/dom';
import { count } from '../../draw/numbers';

import { chooser, countBox, slider } from './controls';
import { HeadStrip } from './head_strip';
import { MOST_LINKS } from './links';
import type { Moment, PaneContext } from './pane';
import { DEFAULTS, type Selection, defaultTop, wordOf } from './selection';

export class HeadControls {
  readonly element: HTMLElement;
  private readonly strip: HeadStrip;
  private readonly left = h('output', { class: 'at-count' });
  private readonly threshold;
  private readonly top;
  private readonly first;
  private readonly mapping;
  private readonly curve;
  private readonly special;
  private readonly rows;
  private shown: Selection | null = null;

  constructor(context: PaneContext, preview: (rules: Partial<Selection>) => void) {
    const { change } = context;
    this.strip = new HeadStrip((heads) => change({ heads: wordOf([...heads].sort((a, b) => a - b).join(','), '0') }));
    this.threshold = slider(
      'Weight at least', { min: 0, max: 1, step: 0.005 }, (threshold) => preview({ threshold }),
      (value) => change({ threshold: wordOf(String(value), String(DEFAULTS.threshold)) }),
    );
    this.top = countBox('Strongest of each query', { min: 1, max: 1024 }, 'all', (value) => {
      const fallback = defaultTop(this.shown?.first ?? DEFAULTS.first);
      change({ top: wordOf(String(value ?? 0), String(fallback)) });
    });
    this.first = countBox('First tokens', { min: 1, max: 131072 }, 'all', (value) => change({ first: wordOf(String(value ?? 'all'), String(DEFAULTS.first)) }));
    this.mapping = chooser('A weight is', [['width', 'thickness'], ['opacity', 'opacity'], ['both', 'both']], (value) => change({ map: wordOf(value, DEFAULTS.mapping) }));
    this.curve = chooser('of its', [['linear', 'value'], ['sqrt', 'square root']], (value) => change({ curve: wordOf(value, DEFAULTS.curve) }));
    this.special = chooser('Special tokens', [['show', 'shown'], ['hide', 'hidden'], ['renormalise', 'hidden, their weight shared']], (value) => change({ special: wordOf(value, DEFAULTS.special) }));
    this.rows = chooser('Rows', [['readable', 'readable'], ['all', 'all in sight']], (value) => change({ rows: wordOf(value, DEFAULTS.rows) }));
    this.element = h(
      'div', { class: 'at-controls' }, this.strip.element,
      h('div', { class: 'at-fields' }, this.threshold.element, this.left, this.top.element, this.first.element, this.mapping.element, this.curve.element, this.special.element, this.rows.element),
    );
  }

  show(moment: Moment): void {
    const { selection } = moment;
    this.shown = selection;
    this.strip.show(moment.layer, selection.heads);
    this.threshold.set(selection.threshold);
    this.top.set(selection.top === 0 ? null : selection.top);
    this.first.set(selection.first === 0 ? null : selection.first);
    this.mapping.set(selection.mapping);
    this.curve.set(selection.curve);
    this.special.set(selection.special);
    this.rows.set(selection.rows);
  }

  showCount(drawn: number, total: number): void {
    const limit = drawn < total ? `, the ${count(MOST_LINKS)} strongest drawn` : '';
    replace(this.left, `${count(total)} links${limit}`);
  }

  destroy(): void {
    this.strip.destroy();
  }
}
