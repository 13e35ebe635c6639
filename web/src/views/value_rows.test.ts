import { describe, expect, it } from 'vitest';

import { chosenColumns, compareValues, searched, sortedBy, tellingNames, type ValueRow } from './value_rows';

const row = (name: string, values: Record<string, number | string | undefined>): ValueRow & { name: string } => ({
  name, text: `${name} ${Object.values(values).join(' ')}`.toLowerCase(), values: new Map(Object.entries(values)),
});

const rows = [
  row('bert-1', { lr: 0.1, state: 'Failed', optimizer: 'SGD' }),
  row('bert-2', { lr: 0.01, state: 'Completed', optimizer: 'Adam' }),
  row('gpt-3', { lr: NaN, state: 'Training' }),
];
const found = (search: string) => searched(rows, search).map(({ name }) => name);

describe('search', () => {
  it('takes words from anywhere in a row', () => {
    expect(found('')).toEqual(['bert-1', 'bert-2', 'gpt-3']);
    expect(found('BERT adam')).toEqual(['bert-2']);
    expect(found('nobody')).toEqual([]);
  });
  it('takes conditions on values, as numbers where they are some', () => {
    expect(found('lr>0.05')).toEqual(['bert-1']);
    expect(found('lr<=0.1 optimizer=adam')).toEqual(['bert-2']);
    expect(found('LR=1e-2')).toEqual(['bert-2']);
    expect(found('state!=failed')).toEqual(['bert-2', 'gpt-3']);
    expect(found('optimizer!=sgd')).toEqual(['bert-2', 'gpt-3']); // one that has none is no SGD
    expect(found('lr>x')).toEqual([]);
    expect(found('nothing>1')).toEqual([]);
  });
});

describe('order', () => {
  it('puts numbers before texts, and what is not there last in both directions', () => {
    const values = ['b', 2, undefined, 10, 'a', NaN];
    const sort = (turned: boolean) => [...values].sort((a, b) => compareValues(a, b, turned)).slice(0, 4);
    expect(sort(false)).toEqual([2, 10, 'a', 'b']);
    expect(sort(true)).toEqual(['b', 'a', 10, 2]);
  });
  it('keeps the order of rows that are alike', () => {
    expect(sortedBy(rows, () => 1, true).map(({ name }) => name)).toEqual(['bert-1', 'bert-2', 'gpt-3']);
  });
});

describe('columns', () => {
  it('offers what differs before what is the same everywhere', () => {
    const all = [row('a', { epochs: 3, lr: 1 }), row('b', { epochs: 3, lr: 2 }), row('c', { epochs: 3, lr: 2, rare: 1 })];
    expect(tellingNames(all)).toEqual(['lr', 'epochs', 'rare']);
  });
  it('follows the link, which may want none', () => {
    expect(chosenColumns(undefined, ['a', 'b', 'c'], 2)).toEqual(['a', 'b']);
    expect(chosenColumns('c,x', ['a', 'b', 'c'], 2)).toEqual(['c', 'x']);
    expect(chosenColumns('none', ['a'], 2)).toEqual([]);
  });
});
