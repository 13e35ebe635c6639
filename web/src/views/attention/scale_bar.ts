// Scale bars: what the colours of a picture mean, as numbers.
import { blueOrange, colourAt, viridis } from '../../draw/colours';
import { h } from '../../draw/dom';
import { short } from '../../draw/numbers';

import { type Chooser, chooser } from './controls';
import type { PaneContext } from './pane';
import { DEFAULTS, wordOf } from './selection';

const STOPS = 9;

export function brightestChooser(context: PaneContext): Chooser {
  return chooser('Brightest is', [['one', 'a weight of 1'], ['own', 'the largest shown']], (value) => context.change({ brightest: wordOf(value, DEFAULTS.brightest) }));
}

function bar(colours: string[], marks: string[], label: string): HTMLElement {
  const ramp = h('span', { class: 'at-ramp', 'aria-hidden': 'true' });
  ramp.style.backgroundImage = `linear-gradient(to right, ${colours.join(', ')})`;
  const under = h('span', { class: 'at-marks' }, ...marks.map((mark) => h('span', {}, mark)));
  return h('span', { class: 'at-scale', role: 'img', 'aria-label': `${label}: ${marks.join(', ')}` }, h('span', {}, label), h('span', {}, ramp, under));
}

/** Weights from 0 to the largest that has a colour of its own, by their square root. */
export function weightBar(top = 1): HTMLElement {
  const colours = Array.from({ length: STOPS }, (_, i) => colourAt(viridis(), i / (STOPS - 1)));
  const marks = [0, 0.25, 0.5, 0.75, 1].map((share) => short(share * share * top, 3));
  return bar(colours, marks, 'Weight');
}

export function signedBar(limit: number, label: string): HTMLElement {
  const colours = Array.from({ length: STOPS }, (_, i) => colourAt(blueOrange(), i / (STOPS - 1)));
  return bar(colours, [short(-limit, 3), '0', short(limit, 3)], label);
}
