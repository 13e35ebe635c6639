import { expect, it } from 'vitest';

import { ValueList, type ListKind } from './value_list';
import type { ValueRow } from './value_rows';
import type { PlaceContext } from './view';

interface Named extends ValueRow {
  name: string;
}

const rows: Named[] = [0.1, 0.2, 0.3].map((lr, i) => ({ name: `run-${i}`, text: `run-${i}`, values: new Map([['lr', lr]]) }));
const KIND: ListKind<Named> = {
  label: 'Table', placeholder: '', keyOf: ({ name }) => name, usualOrder: 'name', usualColumns: 1, parallel: true,
  first: [{ id: 'name', title: 'Name', width: 10, value: ({ name }) => name }], last: { id: 'end', title: 'End', width: 10, value: () => undefined },
};

function made(kind = KIND) {
  const element = document.createElement('div');
  const said: Record<string, string | undefined>[] = [];
  const context: Pick<PlaceContext, 'change'> = { change: (words) => said.push(words) };
  const list = new ValueList<Named>(element, context as PlaceContext, kind, []);
  const show = (params: Record<string, string>) => list.show(rows, rows.length, ['lr'], params, '', () => []);
  const shownRows = () => [...element.querySelectorAll<HTMLElement>('tr[data-row]')].map((row) => row.dataset['row']);
  const toggle = [...element.querySelectorAll('button')].find(({ textContent }) => textContent === 'Parallel coordinates')!;
  return { element, said, show, shownRows, toggle };
}

it('has its rows as parallel coordinates when the link says so, and leaves out what their ranges leave out', () => {
  const { element, said, show, shownRows, toggle } = made();
  show({ brush: 'lr~0~0.15' });
  expect(shownRows()).toHaveLength(3); // no range is seen, none counts
  expect(element.querySelector<HTMLElement>('.value-parallel')!.hidden).toBe(true);
  toggle.click();
  expect(said).toEqual([{ axes: '1' }]);
  show({ axes: '1', brush: 'lr~0~0.25' });
  expect(shownRows()).toEqual(['run-0', 'run-1']);
  expect(element.querySelector('[data-test="count"]')!.textContent).toContain('2 of 3');
  expect(toggle.getAttribute('aria-pressed')).toBe('true');
  toggle.click();
  expect(said.at(-1)).toEqual({ axes: undefined, brush: undefined });
});

it('has a way back when a range leaves out all, and no switch where its kind has none', () => {
  const { element, said, show, shownRows } = made();
  show({ axes: '1', brush: 'lr~5~6' });
  expect(shownRows()).toEqual([]);
  [...element.querySelectorAll('button')].find(({ textContent }) => textContent === 'Show all')!.click();
  expect(said.at(-1)).toHaveProperty('brush', undefined);
  const { parallel: _, ...without } = KIND;
  const plain = made(without);
  plain.show({ axes: '1', brush: 'lr~5~6' });
  expect(plain.shownRows()).toHaveLength(3);
  expect(plain.toggle.hidden).toBe(true);
});
