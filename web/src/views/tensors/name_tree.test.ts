import { describe, expect, it } from 'vitest';

import { nameFilter } from './name_filter';
import { NameTree, partsOf } from './name_tree';

const names = ['conv0_weight', 'encoder.layer.10.fc.weight', 'encoder.layer.2.fc.bias', 'encoder.layer.2.fc.weight', 'gradient/conv0_weight', 'loss'];
const all = names.map((_, i) => i);
const collections = { weights: [0, 1, 3], losses: [5] };

function texts(tree: NameTree, open: (key: string) => boolean = () => true): string[] {
  return tree.rows(open).map((row) => `${'  '.repeat(row.level)}${row.label}${row.tensor === undefined ? ` (${row.count})` : ''}`);
}

describe('NameTree', () => {
  it('goes by module path, numbers by size, chains in one row', () => {
    expect(texts(new NameTree(names, all, 'path', collections))).toEqual([
      'encoder.layer (3)', '  2.fc (2)', '    bias', '    weight', '  10.fc (1)', '    weight', 'gradient (1)', '  conv0_weight', 'conv0_weight', 'loss',
    ]);
    expect(texts(new NameTree(names, all, 'path', collections), () => false)).toEqual(['encoder.layer (3)', 'gradient (1)', 'conv0_weight', 'loss']);
  });

  it('goes by collection, with those in none', () => {
    expect(texts(new NameTree(names, [0, 2, 5], 'collection', collections))).toEqual([
      'in no collection (1)', '  encoder.layer.2.fc.bias', 'losses (1)', '  loss', 'weights (1)', '  conv0_weight',
    ]);
  });

  it('is flat when asked', () => {
    expect(texts(new NameTree(names, [5, 1], 'flat', collections))).toEqual(['encoder.layer.10.fc.weight', 'loss']);
    expect(new NameTree(names, [5, 1], 'flat', collections).rows(() => true, true).map((row) => row.tensor)).toEqual([5, 1]);
  });

  it('takes any name apart', () => {
    expect(partsOf('...')).toEqual(['...']);
    expect(partsOf('/a//b.')).toEqual(['a', 'b']);
  });

  it('lists 12,345 names in little time', () => {
    const many = Array.from({ length: 12345 }, (_, i) => `model.block.${i % 100}.part${i % 7}.tensor_${i}`);
    const before = performance.now();
    const rows = new NameTree(many, many.map((_, i) => i), 'path', {}).rows(() => true);
    expect(rows.filter((row) => row.tensor !== undefined).length).toBe(12345);
    expect(performance.now() - before).toBeLessThan(2000); // a loaded machine; some 60 ms on an idle one
  });
});

describe('nameFilter', () => {
  it('knows parts, patterns and expressions', () => {
    expect(names.filter(nameFilter('conv').finds)).toEqual(['conv0_weight', 'gradient/conv0_weight']);
    expect(names.filter(nameFilter('FC weight').finds)).toEqual(['encoder.layer.10.fc.weight', 'encoder.layer.2.fc.weight']);
    expect(names.filter(nameFilter('*.layer.?.*').finds)).toEqual(['encoder.layer.2.fc.bias', 'encoder.layer.2.fc.weight']);
    expect(names.filter(nameFilter('/^conv|loss$/').finds)).toEqual(['conv0_weight', 'loss']);
    expect(nameFilter('/(/').fault).toContain('no regular expression');
    expect(names.filter(nameFilter('a.b(c*').finds)).toEqual([]);
  });
});
