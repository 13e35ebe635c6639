import { afterEach, describe, expect, it } from 'vitest';

import type { Panes } from './attention_view';
import { type FakeModel, SENTENCE, SMALL } from './fake_source';
import { MatrixPane } from './matrix_pane';
import { roundUp } from './matrix_picture';
import { Bench } from './test_bench';
import { PAGE_TOKENS, TextPane } from './text_pane';
import { levelsOf } from './tiles';

const panes: Panes = {
  matrix: async () => (element, context) => new MatrixPane(element, context),
  text: async () => (element, context) => new TextPane(element, context),
};
const LONG: FakeModel = {
  layers: 1, heads: 1, keyValueHeads: 1, size: 2, tokens: [Array.from({ length: 2300 }, (_, i) => `t${i}`)], steps: [1],
};

let bench: Bench | null = null;

afterEach(() => {
  bench?.close();
  bench = null;
});

function open(params: Record<string, string>, model: FakeModel = SMALL): Bench {
  bench = new Bench(panes, params, model);
  return bench;
}

describe('MatrixPane', () => {
  it('fault 5: asks for tiles and for one row, never for all numbers', async () => {
    const at = open({ mode: 'matrix', query: '2100', key: '7' }, LONG);
    await at.pane('length', '2300');
    await at.until(() => at.source.asked.some((address) => address.includes('/tile?')));
    expect(at.source.asked.filter((address) => address.includes('/head?'))).toEqual([]);
    const tiles = at.source.asked.filter((address) => address.includes('/tile?'));
    expect(tiles.some((address) => address.includes('level=4'))).toBe(true);
    expect(tiles.length).toBeLessThan(30);
    expect(Math.fround(Number((at.one('.at-reading data') as HTMLDataElement).value))).toBe(at.source.row(0, 0, 1, 0, 2100)[7]);
  });

  it('reads the cell that arrows go to', async () => {
    const at = open({ mode: 'matrix', layer: '2', heads: '1' });
    await at.pane('length', '12');
    const canvas = at.one('.at-matrix canvas');
    for (const key of ['ArrowDown', 'ArrowRight', 'ArrowRight']) {
      canvas.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
      await new Promise((done) => setTimeout(done, 60));
    }
    expect(at.state.params).toMatchObject({ query: '1', key: '2' });
    await at.until(() => at.one('.at-reading').textContent!.startsWith('the (1) gives prime (2)'));
    expect(Math.fround(Number((at.one('.at-reading data') as HTMLDataElement).value))).toBe(at.source.row(2, 1, 30, 0, 1)[2]);
  });

  it('shows what has changed since another step, in tiles and in the row', async () => {
    const at = open({ mode: 'matrix', query: '3', key: '5', b: '10' });
    await at.pane('compared', 'step 10');
    const change = at.source.row(0, 0, 30, 0, 3)[5]! - at.source.row(0, 0, 10, 0, 3)[5]!;
    expect(Number((at.one('.at-reading data') as HTMLDataElement).value)).toBeCloseTo(change, 6);
    await at.until(() => ['step=10', 'step=30'].every((step) => at.source.asked.some((address) => address.includes('/tile?') && address.endsWith(step))));
    await at.until(() => at.one('.at-status').textContent === 'Step 30 (eval 2), compared with step 10');
    const csv = await (await at.view.snapshot('csv'))!.data.text();
    expect(csv.split('\r\n')[0]).toBe('query,query_token,key,key_token,change');
    expect(Number(csv.split('\r\n')[6]!.split(',').at(-1))).toBeCloseTo(change, 6);
  });

  it('has a button for everything that a drag does', async () => {
    const at = open({ mode: 'matrix' });
    await at.pane('length', '12');
    expect(at.all('.at-moves button').map((each) => each.getAttribute('aria-label'))).toEqual(
      ['Larger', 'Smaller', 'All of it', 'To the left', 'Up', 'Down', 'To the right']);
  });

  it('counts levels as the server does, and labels round places', () => {
    expect([1, 256, 257, 1024, 4096, 5000].map((length) => levelsOf(length, length))).toEqual([1, 1, 2, 3, 5, 6]);
    expect([1, 3, 7, 12, 99].map(roundUp)).toEqual([1, 5, 10, 20, 100]);
  });
});

describe('TextPane', () => {
  it('marks each token with its stored weight', async () => {
    const at = open({ mode: 'text', query: '4', layer: '1' });
    await at.pane('query', '4');
    const row = at.source.row(1, 0, 30, 0, 4);
    at.all('.at-word').forEach((word, key) => expect(Math.fround(Number(word.dataset['weight']))).toBe(row[key]));
    expect(at.one('.at-text').textContent).toBe('[CLS] the primeval forest burns [SEP] why ? [SEP] [PAD]');
    expect(at.one('.at-word[aria-pressed="true"]').dataset['key']).toBe('4');
    expect(at.all('.at-word').length).toBe(SENTENCE.length);
  });

  it('follows clicks and keys to another token', async () => {
    const at = open({ mode: 'text' });
    await at.pane('query', '0');
    at.one('[data-key="8"]').click();
    await at.pane('query', '8');
    at.one('[data-key="8"]').focus();
    for (const key of ['ArrowLeft', 'ArrowLeft', 'Enter']) document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    await at.pane('query', '6');
    expect((document.activeElement as HTMLElement).dataset['key']).toBe('6');
  });

  it('marks what has changed since another step, more and less', async () => {
    const at = open({ mode: 'text', query: '4', heads: '0,1', b: '10' });
    await at.pane('compared', 'step 10');
    const mean = (step: number, key: number): number => (at.source.row(0, 0, step, 0, 4)[key]! + at.source.row(0, 1, step, 0, 4)[key]!) / 2;
    const words = at.all('.at-word');
    words.forEach((word, key) => {
      const change = mean(30, key) - mean(10, key);
      expect(Number(word.dataset['weight'])).toBeCloseTo(change, 6);
      expect(word.dataset['sign']).toBe(change < 0 ? 'less' : 'more');
    });
    expect(new Set(words.map((word) => word.dataset['sign'])).size).toBe(2);
  });

  it('is a drawing with every word', async () => {
    const at = open({ mode: 'text', query: '4' });
    await at.pane('query', '4');
    const svg = await (await at.view.snapshot('svg'))!.data.text();
    expect([...svg.matchAll(/<text[^>]*>([^<]*)</g)].slice(1).map((match) => match[1]).join(' ')).toBe('[CLS] the prime val forest burn s [SEP] why ? [SEP] [PAD]');
    expect((await at.view.snapshot('npy'))!.data.size).toBe(128 + 4 * 12);
  });

  it('turns the pages of a long text', async () => {
    const at = open({ mode: 'text', query: '5' }, LONG);
    await at.pane('length', '2300');
    expect(at.all('.at-word').length).toBe(PAGE_TOKENS);
    at.all('.at-fields .at-button')[1]!.click();
    await at.until(() => at.all('.at-word').length === 2300 - PAGE_TOKENS);
    expect(at.one('.at-fields').textContent).toContain('Tokens 2,048 to 2,299 of 2,300');
  });
});
