// HeadControls: which heads, how many tokens, which links, and how they look.
import { h, replace } from '../../draw/dom';
import { drawerOf } from '../../draw/drawer';
import { count } from '../../draw/numbers';

import { type Choice, chooser, countBox, slider } from './controls';
import { HeadStrip, type StripRules } from './head_strip';
import { MOST_LINKS } from './links';
import type { Moment, PaneContext } from './pane';
import { DEFAULTS, MOST_HEADS, type Selection, wordOf } from './selection';

const FEW: StripRules = {
  many: true, most: MOST_HEADS, refusal: `At most ${MOST_HEADS} heads have a colour. Let one go, or show the mean.`,
};
const ANY: StripRules = { many: true };

const TOGETHER: readonly Choice[] = [['each', 'each in a colour'], ['mean', 'their mean'], ['rollout', 'rollout of all layers to this']];
const BETWEEN_NAMES: readonly Choice[] = [['all', 'all'], ['aa', 'A to A'], ['ab', 'A to B'], ['ba', 'B to A'], ['bb', 'B to B']];
const ROLLOUT = 'Rollout: 0.5 A + 0.5 I, multiplied from layer 0 to this one; ' +
  'A is the mean of a layer\'s heads (Abnar and Zuidema 2020)';

type Words = Record<string, string | undefined>;

export class HeadControls {
  readonly element: HTMLElement;
  private readonly strip: HeadStrip;
  private readonly left = h('output', { class: 'at-count' });
  private readonly together;
  private readonly between;
  private readonly words = h('input', { type: 'checkbox' });
  private readonly threshold;
  private readonly top;
  private readonly first;
  private readonly mapping;
  private readonly curve;
  private readonly special;
  private readonly widest;
  private readonly rows;
  private isCutBeforeB = false;
  private readonly gone = new AbortController();

  constructor(private readonly context: Pick<PaneContext, 'change' | 'announce'>, preview: (rules: Partial<Selection>) => void) {
    const change = (words: Words): void => context.change(words);
    this.strip = new HeadStrip((heads) => change({ heads: textOf(heads) }), FEW, (heads) => this.chooseAll(heads));
    this.together = chooser('Heads', TOGETHER, (value) => change({ together: wordOf(value, DEFAULTS.together) }));
    this.together.element.title = ROLLOUT;
    this.between = chooser('Sentences', BETWEEN_NAMES, (value) => this.chooseBetween(value));
    this.words.addEventListener('change', () => change({ words: this.words.checked ? 'merged' : undefined, pins: undefined }));
    this.threshold = slider(
      'Weight at least', { min: 0, max: 1, step: 0.005 }, (threshold) => preview({ threshold }),
      (value) => change({ threshold: wordOf(String(value), String(DEFAULTS.threshold)) }),
    );
    this.top = countBox('Strongest of each query', { min: 1, max: 1024 }, 'all', (value) => {
      change({ top: wordOf(String(value ?? 0), String(DEFAULTS.top)) });
    });
    this.first = countBox('First tokens', { min: 1, max: 131072 }, 'all', (value) => change({ first: wordOf(String(value ?? 'all'), String(DEFAULTS.first)) }));
    this.mapping = chooser('A weight is', [['width', 'thickness'], ['opacity', 'opacity'], ['both', 'both']], (value) => change({ map: wordOf(value, DEFAULTS.mapping) }));
    this.curve = chooser('of its', [['linear', 'value'], ['sqrt', 'square root']], (value) => change({ curve: wordOf(value, DEFAULTS.curve) }));
    this.special = chooser('Special tokens', [['show', 'shown'], ['hide', 'hidden'], ['renormalise', 'hidden, their weight shared']], (value) => change({ special: wordOf(value, DEFAULTS.special) }));
    this.widest = chooser('Widest is', [['one', 'a weight of 1'], ['own', 'the largest shown']], (value) => {
      change({ brightest: wordOf(value, DEFAULTS.brightest) });
    });
    this.rows = chooser('Rows', [['readable', 'readable'], ['all', 'all in sight']], (value) => change({ rows: wordOf(value, DEFAULTS.rows) }));
    const fields = h('div', { class: 'at-controls' }, this.often(), this.seldom());
    const drawer = drawerOf('Links, sentences, words', fields, this.gone.signal);
    this.element = h('div', { class: 'at-controls' }, this.strip.element, drawer, this.left);
  }

  show(moment: Moment): void {
    const { selection } = moment;
    this.strip.show(moment.layer, selection.heads, selection.together === 'mean' ? ANY : FEW);
    this.strip.element.hidden = selection.together === 'rollout';
    this.together.set(selection.together);
    this.between.set(selection.between);
    this.words.checked = selection.words;
    this.threshold.set(selection.threshold);
    this.top.set(selection.top === 0 ? null : selection.top);
    this.first.set(selection.first === 0 ? null : selection.first);
    this.mapping.set(selection.mapping);
    this.curve.set(selection.curve);
    this.special.set(selection.special);
    this.widest.set(selection.brightest);
    this.rows.set(selection.rows);
  }

  /** `isCutBeforeB`: the tokens that are shown end before the second sentence. */
  showTokens(isCutBeforeB: boolean): void {
    this.isCutBeforeB = isCutBeforeB;
  }

  showCount(drawn: number, total: number): void {
    const limit = drawn < total ? `, the ${count(MOST_LINKS)} strongest drawn` : '';
    replace(this.left, `${count(total)} links${limit}`);
  }

  destroy(): void {
    this.gone.abort();
    this.strip.destroy();
  }

  private often(): HTMLElement {
    const words = h('label', { class: 'at-tick' }, this.words, 'whole words');
    return h('div', { class: 'at-fields' }, this.together.element, this.top.element, this.first.element, this.between.element, words);
  }

  private seldom(): HTMLElement {
    const fields = h(
      'div', { class: 'at-fields' }, this.threshold.element, this.mapping.element, this.curve.element, this.widest.element,
      this.special.element, this.rows.element,
    );
    return h('details', { class: 'at-details' }, h('summary', {}, 'Threshold and look of links'), fields);
  }

  /** More heads than there are colours: their mean. */
  private chooseAll(heads: readonly number[]): void {
    if (heads.length <= MOST_HEADS) return this.context.change({ heads: textOf(heads) });
    this.context.change({ heads: 'all', together: 'mean' });
    this.context.announce(`The mean of ${heads.length} heads: at most ${MOST_HEADS} have a colour`);
  }

  /** Without the second sentence there would be nothing to see. */
  private chooseBetween(value: string): void {
    const all = value !== 'all' && this.isCutBeforeB ? { first: 'all' } : {};
    this.context.change({ between: wordOf(value, DEFAULTS.between), ...all });
  }
}

function textOf(heads: readonly number[]): string | undefined {
  return wordOf([...heads].sort((a, b) => a - b).join(','), '0');
}
