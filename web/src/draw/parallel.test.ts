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

it('says which line is pointed at, and chooses it', () => {
  const said: (string | undefined)[] = [];
  const chosen: string[] = [];
  const lines = new ParallelCoordinates('Trials', () => {}, (id) => chosen.push(id), (id) => said.push(id));
  lines.show(shown(new Map()));
  const field = lines.element.querySelector<HTMLElement>('.parallel-field')!;
  Object.defineProperties(field, { clientWidth: { value: 328 }, clientHeight: { value: 142 } }); // axes at 64 and 264, from 30 to 130
  const canvas = lines.element.querySelector('canvas')!;
  const at = (type: string, offsetX: number, offsetY: number) => {
    const event = new MouseEvent(type, { bubbles: true });
    Object.defineProperties(event, { offsetX: { value: offsetX }, offsetY: { value: offsetY } });
    canvas.dispatchEvent(event);
  };
  at('pointermove', 64, 81); // 5 of 10 is in the middle
  at('pointermove', 66, 81);
  at('click', 264, 55); // the second of two choices
  at('pointermove', 164, 125);
  expect(said).toEqual(['0', undefined]);
  expect(chosen).toEqual(['0']);
  lines.destroy();
});
