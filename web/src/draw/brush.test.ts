import { expect, it } from 'vitest';

import { formatBrushes, isWithin, parseBrushes, withBrush } from './brush';

it('stands in a link, whatever an axis is called', () => {
  const brushes = withBrush(withBrush(new Map(), 'a~b,c', [0.001, 0.1]), 'loss', [-1, 2]);
  expect(formatBrushes(brushes)).toBe('a%7Eb%2Cc~0.001~0.1,loss~-1~2');
  expect(parseBrushes(formatBrushes(brushes))).toEqual(brushes);
  expect(formatBrushes(withBrush(withBrush(brushes, 'loss', undefined), 'a~b,c', undefined))).toBeUndefined();
});

it('leaves out what is no range', () => {
  expect(parseBrushes('a~1,b~x~2,~1~2,c~1~Infinity,d~0~1').size).toBe(1);
  expect(parseBrushes(undefined).size).toBe(0);
});

it('keeps what is within on every axis', () => {
  const brushes = parseBrushes('a~0~1,b~5~6');
  const of = (values: Record<string, number>) => isWithin(brushes, (id) => values[id] ?? NaN);
  expect(of({ a: 1, b: 5.5 })).toBe(true);
  expect(of({ a: 1, b: 7 })).toBe(false);
  expect(of({ a: 1 })).toBe(false);
});
