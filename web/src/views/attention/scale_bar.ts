// Scale bars: what the colours of a picture mean, as numbers.
import { blueOrange, colourAt, viridis } from '../../draw/colours';
import { h } from '../../draw/dom';
import { short } from '../../draw/numbers';

const STOPS = 9;

function bar(colours: string[], marks: string[], label: string): HTMLElement {
  const ramp = h('span', { class: 'at-ramp', 'aria-hidden': 'true' });
  ramp.style.backgroundImage = `linear-gradient(to right, ${colours.join(', ')})`;
  const under = h('span', { class: 'at-marks' }, ...marks.map((mark) => h('span', {}, mark)));
  return h('span', { class: 'at-scale', role: 'img', 'aria-label': `${label}: ${marks.join(', ')}` }, h('span', {}, label), h('span', {}, ramp, under));
}

/** Weights from 0 to 1, by their square root. */
export function weightBar(): HTMLElement {
  const colours = Array.from({ length: STOPS }, (_, i) => colourAt(viridis(), i / (STOPS - 1)));
  return bar(colours, ['0', '0.0625', '0.25', '0.5625', '1'], 'Weight');
}

export function signedBar(limit: number, label: string): HTMLElement {
  const colours = Array.from({ length: STOPS }, (_, i) => colourAt(blueOrange(), i / (STOPS - 1)));
  return bar(colours, [short(-limit, 3), '0', short(limit, 3)], label);
}
