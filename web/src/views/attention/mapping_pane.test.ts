import { afterEach, describe, expect, it } from 'vitest';

import type { Listing } from './api';
import type { Panes } from './attention_view';
import { SMALL } from './fake_source';
import { draftOf, faultsOf, namesMeant, patternsOf, textOf } from './mapping_file';
import { MappingPane } from './mapping_pane';
import { Bench } from './test_bench';

const panes: Panes = { mapping: async () => (element, context) => new MappingPane(element, context) };

let bench: Bench | null = null;

afterEach(() => {
  bench?.close();
  bench = null;
});

const NAMES = ['encoder.0.query', 'encoder.1.query', 'encoder.10.query', 'encoder.x.query', 'decoder.0.query2'];

describe('names', () => {
  it('mean tensors as the program reads them', () => {
    expect(namesMeant('encoder.{layer}.query', NAMES)).toEqual(NAMES.slice(0, 3));
    expect(namesMeant('decoder.0.query2', NAMES)).toEqual(['decoder.0.query2']);
    expect(namesMeant('', NAMES)).toEqual([]);
    expect(namesMeant('{layer}', ['12', 'a1'])).toEqual(['12']);
  });

  it('become patterns', () => {
    expect(patternsOf(NAMES)[0]).toBe('encoder.{layer}.query');
    expect(patternsOf(NAMES)).not.toContain('decoder.{layer}.query2'); // means one tensor only
    expect(patternsOf([])).toEqual([]);
  });
});

describe('MappingPane', () => {
  it('shows what was guessed and why, and the file that says the same', async () => {
    bench = new Bench(panes, { mode: 'mapping' }, SMALL);
    await bench.pane('source', 'guessed');
    expect(bench.one('table').textContent).toContain('encoder.0.query');
    expect(bench.element.textContent).toContain('named key, as wide as the query');
    expect(bench.element.textContent).toContain('worked out from queries and keys');
    expect((bench.one('textarea') as HTMLTextAreaElement).value.split('\n').slice(1)).toEqual([
      'query = "encoder.{layer}.query"', 'key = "encoder.{layer}.key"', 'tokens = "input_tokens"', 'heads = 4', 'mask = "none"', '',
    ]);
  });

  it('takes what is typed, and says what would be refused', async () => {
    bench = new Bench(panes, { mode: 'mapping' }, SMALL);
    await bench.pane('source', 'guessed');
    const key = bench.one('[data-role="key"]') as HTMLInputElement;
    key.value = '';
    key.dispatchEvent(new Event('input'));
    expect(bench.one('.at-faults').textContent).toContain('name both, or neither');
    key.value = 'encoder.1.key';
    key.dispatchEvent(new Event('input'));
    expect(bench.one('.at-faults').textContent).toContain('Either all names');
    expect((bench.one('textarea') as HTMLTextAreaElement).value).toContain('key = "encoder.1.key"');
  });

  it('is what a run without attention shows', async () => {
    bench = new Bench(panes, { mode: 'head' }, { ...SMALL, layers: 0 });
    await bench.pane('source', 'guessed');
    expect(bench.element.textContent).toContain('Capture the weights after the softmax');
  });
});

describe('the file', () => {
  const candidates: Listing['candidates'] = { attention: [], query: [], key: [], tokens: [] };
  const empty = draftOf({ source: 'none', note: '', layers: [], tokens: null, candidates });

  it('writes texts as TOML does', () => {
    expect(textOf({ ...empty, tokens: 'a"b\\c\u202e\u007f' })).toContain('tokens = "a\\"b\\\\c\u202e\\u007f"');
    expect(textOf({ ...empty, mask: 'window', window: '128', scale: '0.125', layout: 'BTHD' }).split('\n').slice(1)).toEqual([
      'scale = 0.125', 'mask = "window"', 'window = 128', 'layout = "BTHD"', '',
    ]);
  });

  it('finds numbers that are none', () => {
    expect(faultsOf({ ...empty, heads: '0', scale: 'big', mask: 'window' }, candidates)).toEqual([
      'heads is a whole number from 1 on.', 'scale is a number.', 'A window has a number of tokens.',
    ]);
  });
});
