import { expect, it } from 'vitest';

import type { Brushes } from './brush';
import { ParallelCoordinates, type ParallelShown } from './parallel';
import { choiceScale, linearScale } from './scales';

function shown(brushes: Brushes): ParallelShown {
  return {
    brushes, lines: [{ id: '0', label: () => 'Trial 0', values: [5, 1], rank: 1 }],
    axes: [{ id: 'lr', title: 'lr', scale: linearScale(0, 10), presses: 10 }, { id: 'kind', title: 'kind', scale: choiceScale(['a', 'b']), presses: 2 }],
  };
}

function press(field: HTMLElement, label: string, key: string): void {
  field.querySelector(`[aria-label="${label}"]`)!.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
}

it('takes ranges from the keys on the ends of its axes, and gives them up', () => {
  const given: Brushes[] = [];
  const lines = new ParallelCoordinates('Trials', (brushes) => given.push(brushes), () => {});
  lines.show(shown(new Map()));
  press(lines.element, 'Lowest lr', 'ArrowUp');
  expect([...given.at(-1)!]).toEqual([['lr', [1, 10.2]]]);
  lines.show(shown(given.at(-1)!));
  expect(lines.element.querySelector('[aria-label="Lowest lr"]')!.getAttribute('aria-valuetext')).toBe('1');
  press(lines.element, 'Highest kind', 'ArrowDown');
  expect(given.at(-1)!.get('kind')![1]).toBe(0.5); // the first choice alone
  press(lines.element, 'Lowest lr', 'Delete');
  expect(given.at(-1)!.size).toBe(0);
  press(lines.element, 'Lowest lr', 'x');
  expect(given).toHaveLength(3);
  lines.destroy();
});
