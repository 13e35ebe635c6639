// The neuron view as a drawing.
import { blueOrange, colourAt } from '../../draw/colours';
import { short } from '../../draw/numbers';
import { SvgWriter } from '../../draw/svg';

import type { Neuron } from './api';
import { largestSize } from './neuron_math';

const ROW = 20;
const LABEL = 110;
const SUM = 80;
const TOP = 70;
/** Keys beyond that would be more marks than a program opens gladly. */
const MOST_MARKS = 20_000;

export function neuronSvg(neuron: Neuron, order: readonly number[], keys: number, description: string): SvgWriter {
  const cell = Math.max(3, Math.min(12, 320 / neuron.size));
  const wide = neuron.size * cell;
  const rows = Math.min(keys, Math.max(1, Math.floor(MOST_MARKS / (2 * neuron.size))));
  const svg = new SvgWriter(LABEL + 2 * (wide + 12) + 3 * SUM, TOP + rows * ROW + 30, description);
  const [vectorLimit, productLimit] = [largestSize(neuron.queryVector, neuron.key), largestSize(neuron.product)];
  const colour = (value: number, limit: number): string => colourAt(blueOrange(), limit > 0 ? 0.5 + value / limit / 2 : 0.5);
  const strip = (x: number, y: number, values: Float32Array, from: number, limit: number): void => order.forEach((dim, i) =>
    svg.add('rect', { x: x + i * cell, y, width: cell, height: ROW - 1, fill: colour(values[from + dim]!, limit) }));
  const product = LABEL + wide + 12;
  const sums = product + wide + 12;
  svg.add('rect', { width: '100%', height: '100%', fill: '#ffffff' });
  svg.text(4, 14, description.replace(/ Arrows.*$/, ''));
  svg.text(4, 40, neuron.labels.query?.[neuron.query] ?? `query ${neuron.query}`, { 'font-weight': 'bold' });
  strip(LABEL, 26, neuron.queryVector, 0, vectorLimit);
  ['key', 'q × k', 'q · k', 'scaled', 'softmax'].forEach((title, i) => svg.text([LABEL, product, sums, sums + SUM, sums + 2 * SUM][i]!, 64, title));
  for (let key = 0; key < rows; key++) {
    const y = TOP + key * ROW;
    svg.text(4, y + 14, neuron.labels.key?.[key] ?? `key ${key}`);
    strip(LABEL, y, neuron.key, key * neuron.size, vectorLimit);
    strip(product, y, neuron.product, key * neuron.size, productLimit);
    [neuron.dot, neuron.scaled, neuron.softmax].forEach((values, i) => svg.text(sums + i * SUM, y + 14, short(values[key]!)));
  }
  const left = rows < neuron.keys ? ` The first ${rows} of ${neuron.keys} keys.` : '';
  svg.text(4, TOP + rows * ROW + 18, `Blue is negative, orange positive: query and key to ±${short(vectorLimit, 3)}, q × k to ±${short(productLimit, 3)}.${left}`);
  return svg;
}
