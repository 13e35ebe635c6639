import { expect, it } from 'vitest';

import { parseBrushes } from '../draw/brush';
import { valueAxes, valueAxis, withinAxes } from './value_axes';
import { ValueParallel } from './value_parallel';
import type { Value } from './value_rows';

const row = (values: Record<string, Value>) => ({ values: new Map(Object.entries(values)) });
const rows = [row({ lr: 1e-4, opt: 'sgd', loss: 3 }), row({ lr: 1, opt: 'adam', loss: NaN }), row({ lr: 1e-2, loss: 1, note: 7 })];

it('gives numbers an even axis, or a logarithmic one where they reach over three decades', () => {
  expect(valueAxis('lr', rows)!.scale.place(1e-2)).toBeCloseTo(0.5);
  expect(valueAxis('loss', rows)!.scale.place(2)).toBeCloseTo(0.5);
  expect(rows.map((each) => valueAxis('loss', rows)!.of(each))).toEqual([3, NaN, 1]);
});

it('gives texts a place each, in their order, and nothing to what has no value', () => {
  const axis = valueAxis('opt', rows)!;
  expect(rows.map((each) => axis.of(each))).toEqual([1, 0, NaN]);
  expect(axis.scale.text(0)).toBe('adam');
  expect(valueAxis('nobody', rows)).toBeNull();
  expect(valueAxis('id', Array.from({ length: 41 }, (_, i) => row({ id: `run-${i}` })))).toBeNull();
  expect(valueAxes(['lr', 'nobody', 'opt'], rows).map(({ id }) => id)).toEqual(['lr', 'opt']);
});

it('leaves out rows beyond a range, also those without the value', () => {
  const axes = valueAxes(['lr', 'opt', 'loss'], rows);
  const left = (word: string) => withinAxes(rows, axes, parseBrushes(word)).map((each) => rows.indexOf(each));
  expect(left('')).toEqual([0, 1, 2]);
  expect(left('lr~0.001~1')).toEqual([1, 2]);
  expect(left('lr~0.001~1,loss~0~9')).toEqual([2]);
  expect(left('opt~-0.5~0.5')).toEqual([1]);
  expect(left('hidden~0~1')).toEqual([0, 1, 2]); // a column that is not shown
});

it('gives a range as a word of the link, and says which columns have no axis', () => {
  const words: (string | undefined)[] = [];
  const parallel = new ValueParallel<(typeof rows)[0]>((each) => String(rows.indexOf(each)), { brush: (word) => words.push(word), hover: () => {}, choose: () => {} });
  const axes = valueAxes(['opt'], rows);
  parallel.show(rows, ['opt', 'nobody'], axes, new Map());
  expect(parallel.element.textContent).toContain('Without an axis: nobody');
  const end = parallel.element.querySelector('[aria-label="Highest opt"]')!;
  end.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true }));
  expect(words).toEqual(['opt~-0.54~0.5']);
  expect(withinAxes(rows, axes, parseBrushes(words[0])).map((each) => rows.indexOf(each))).toEqual([1]);
  parallel.destroy();
});
