import { describe, expect, it } from 'vitest';

import { Addresses } from './api';
import { FakeSource, SENTENCE, SMALL, type FakeModel } from './fake_source';
import { slotsOf } from './head_colours';
import { firstSentence, groupsOf, wordOf } from './tokens';
import { Weights } from './weights';

async function weightsOf(heads: number[], step = 20, model: FakeModel = SMALL, first = 0): Promise<Weights> {
  const request = new Addresses('r').head(1, heads, step, 0, first);
  const arrays = await new FakeSource(model).arrays(request.path, request.parameters);
  return Weights.of(arrays, Array.from({ length: arrays.get('weights').shape[1]! }, (_, i) => i));
}

describe('the mean of heads', () => {
  it('is that of each weight, and says of which heads', async () => {
    const all = await weightsOf([0, 2, 3]);
    const mean = all.mean();
    for (let key = 0; key < 12; key++) {
      expect(mean.row(0, 5)![key]).toBeCloseTo((all.row(0, 5)![key]! + all.row(1, 5)![key]! + all.row(2, 5)![key]!) / 3, 6);
    }
    expect([mean.heads.length, mean.headName(0), mean.title]).toEqual([1, 'Mean of heads 0, 2, 3', 'Mean of heads 0, 2, 3']);
    const one = await weightsOf([1]);
    expect(one.mean()).toBe(one);
  });

  it('can be compared', async () => {
    const [now, then] = [(await weightsOf([0, 1], 30)).mean(), (await weightsOf([0, 1], 10)).mean()];
    const change = Weights.difference(now, then, 'step 10');
    for (let key = 0; key < 12; key++) expect(change.given(3)![key]).toBeCloseTo(now.row(0, 3)![key]! - then.row(0, 3)![key]!, 6);
    expect(change.headName(1)).toBe('Mean of heads 0, 1, less than at step 10');
  });
});

describe('whole words', () => {
  // [CLS] the prime ##val forest burn ##s [SEP] why ? [SEP] [PAD]
  it('sum over the pieces of a key and take the mean over those of a query', async () => {
    const pieces = await weightsOf([0]);
    const words = pieces.words();
    expect(words.labels.key).toEqual(['[CLS]', 'the', 'primeval', 'forest', 'burns', '[SEP]', 'why', '?', '[SEP]', '[PAD]']);
    expect([words.keyCount, words.origin.length, words.queryLabel(4)]).toEqual([10, 10, 'burns']);
    const [prime, val] = [pieces.row(0, 2)!, pieces.row(0, 3)!];
    expect(words.row(0, 2)![4]).toBeCloseTo((prime[5]! + prime[6]! + val[5]! + val[6]!) / 2, 6);
    for (let query = 0; query < 10; query++) expect(words.row(0, query)!.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 5);
  });

  it('are made of the tokens that are shown', async () => {
    const words = (await weightsOf([0, 1], 20, SMALL, 4)).words();
    expect(words.labels.query).toEqual(['[CLS]', 'the', 'primeval']);
    expect(words.row(1, 2)!.length).toBe(3);
  });

  it('are not made where labels do not fit, or single rows are there', async () => {
    const wrong = await weightsOf([0], 20, { ...SMALL, wrongTokens: ['a', '##b'] });
    expect(wrong.words()).toBe(wrong);
    const request = new Addresses('r').rows(1, [0], 20, 0, [3, 5]);
    const rows = Weights.of(await new FakeSource(SMALL).arrays(request.path, request.parameters), [3, 5]);
    expect(rows.words()).toBe(rows);
  });

  it('follow the marks of every tokenizer, and never go on with a special token', () => {
    const texts = (tokens: string[]): string[] => groupsOf(tokens).map((group) => wordOf(tokens, group));
    expect(texts(['<s>', 'Ġthe', 'Ġprime', 'val', 'Ġforest', '</s>'])).toEqual(['<s>', 'Ġthe', 'primeval', 'Ġforest', '</s>']);
    expect(texts(['[MASK]', '##s', 'x'])).toEqual(['[MASK]', '##s', 'x']);
    expect(texts(['one', 'two'])).toEqual(['one', 'two']);
  });
});

describe('sentences', () => {
  it('are told by the first separator behind which there is text', () => {
    expect(firstSentence(SENTENCE)).toBe(8);
    expect(firstSentence(SENTENCE.slice(0, 8))).toBe(null);
    expect(firstSentence(['[CLS]', 'a', '[SEP]', '[PAD]', ''])).toBe(null);
    expect(firstSentence(['<s>', 'a', '</s>', '</s>', 'b', '</s>'])).toBe(3);
    expect(firstSentence(null)).toBe(null);
  });
});

describe('colours of heads', () => {
  it('are never the same for two of eight', () => {
    expect(slotsOf([0, 8, 16, 3])).toEqual([0, 1, 2, 3]);
    expect(new Set(slotsOf([1, 2, 9, 10, 17, 18, 25, 26])).size).toBe(8);
    expect(slotsOf([5])).toEqual([5]); // its own, whichever others there are
  });
});
