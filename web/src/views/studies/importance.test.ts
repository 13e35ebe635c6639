import { describe, expect, it } from 'vitest';

import { SourceError } from '../../data/source';
import type { ImportanceAnswer } from './api';
import { ImportanceAnswers, isStale, mostImportant } from './importance_answers';
import { barScale, importanceRows, importanceTable, percent, shareWords, trustWords } from './importance_table';

const share = (importance: number, low = 0, high = importance) => ({ importance, low, high });

const answer = (more: Partial<ImportanceAnswer> = {}): ImportanceAnswer => ({
  study: 'mine', metric: 'accuracy', trials: 20, left_out: 0, note: '',
  ped_anova: [{ parameter: 'b', ...share(0.2) }, { parameter: 'lr', ...share(0.7, 0.5, 0.8) }, { parameter: 'a', ...share(0.2) }],
  fanova: { r2: 0.9, trusted: true, single: [{ parameter: 'lr', ...share(0.6) }, { parameter: 'only', ...share(0.1) }], pairs: [{ parameters: ['a', 'lr'], ...share(0.1, 0, 0.9) }] },
  ...more,
});

describe('the question of importance', () => {
  const asked = { metric: 'accuracy', complete: 50, live: true };
  it('is asked again when a tenth more is complete, for another metric, and at the end', () => {
    expect(isStale(null, asked)).toBe(true);
    expect(isStale(asked, { ...asked, complete: 54 })).toBe(false);
    expect(isStale(asked, { ...asked, complete: 55 })).toBe(true);
    expect(isStale(asked, { ...asked, metric: 'seconds' })).toBe(true);
    expect(isStale(asked, { ...asked, complete: 51, live: false })).toBe(true);
    expect(isStale(asked, { ...asked, live: false })).toBe(false);
    expect(isStale({ ...asked, complete: 0 }, { ...asked, complete: 1 })).toBe(true);
  });
  it('is asked once for many looks, and says why there is no answer', async () => {
    const addresses: string[] = [];
    let fails = false;
    const source = { json: <T,>(path: string, parameters: object = {}): Promise<T> => {
      addresses.push(`${path} ${JSON.stringify(parameters)}`);
      return fails ? Promise.reject(new SourceError('not found', 'nobody knows')) : Promise.resolve(answer() as T);
    } };
    let changes = 0;
    const answers = new ImportanceAnswers(source, 'mine', () => ++changes);
    answers.want(asked);
    answers.want({ ...asked, complete: 60 }); // while it is being asked
    expect(answers.isAsking).toBe(true);
    await Promise.resolve().then(() => {}).then(() => {});
    answers.want({ ...asked, complete: 51 });
    expect(addresses).toEqual(['/studies/mine/importance {"metric":"accuracy"}']);
    expect(answers.of('accuracy')!.trials).toBe(20);
    expect(answers.of('seconds')).toBeNull();
    expect(changes).toBe(2);
    fails = true;
    answers.want({ ...asked, complete: 60 });
    await Promise.resolve().then(() => {}).then(() => {});
    expect(answers.problem).toBe('nobody knows');
    expect(answers.of('accuracy')).not.toBeNull(); // the older answer stays
    answers.want({ ...asked, complete: 60 });
    expect(addresses).toHaveLength(2); // not with each look
  });
});

describe('importances', () => {
  it('come with the most important first, by PED-ANOVA where there is one', () => {
    expect(mostImportant(answer())).toEqual(['lr', 'a', 'b']);
    expect(mostImportant(answer({ ped_anova: [] }))).toEqual(['lr', 'only']);
    expect(importanceRows(answer()).map(({ parameter, ped, fanova }) => [parameter, ped?.importance, fanova?.importance]))
      .toEqual([['lr', 0.7, 0.6], ['a', 0.2, undefined], ['b', 0.2, undefined], ['only', undefined, 0.1]]);
  });
  it('are told as shares with their intervals', () => {
    expect([0.714, 0.002, 0, -0.02, NaN].map(percent)).toEqual(['71 %', '< 1 %', '0 %', '−2 %', 'NaN']);
    expect(shareWords(share(0.7, 0.52, 0.81))).toBe('70 % (52 to 81 %)');
  });
  it('are bars of one scale, which the longest interval fills', () => {
    expect(barScale(answer())).toBe(0.9);
    expect(barScale(answer({ ped_anova: [], fanova: null }))).toBe(1);
    const table = importanceTable(answer(), importanceRows(answer()), answer().fanova!.pairs);
    expect(table.querySelector('[data-parameter="lr"] rect')!.getAttribute('width')).toBe((70 / 0.9).toFixed(2));
    expect(table.textContent).toContain('a × lr');
  });
  it('say when fANOVA is not to be trusted, and draw it so', () => {
    const { fanova } = answer();
    const doubtful = answer({ fanova: { ...fanova!, r2: -0.25, trusted: false } });
    expect(trustWords(answer())).toContain('R² is 0.90');
    expect(trustWords(doubtful)).toMatch(/^Do not trust .* R² is −0.25/);
    expect(trustWords(answer({ fanova: { ...fanova!, r2: null, trusted: false } }))).toMatch(/^Do not trust/);
    expect(trustWords(answer({ fanova: null }))).toContain('no fANOVA');
    expect(importanceTable(doubtful, importanceRows(doubtful), []).querySelectorAll('.doubtful')).toHaveLength(2);
    expect(importanceTable(answer({ fanova: null }), importanceRows(answer({ fanova: null })), []).querySelectorAll('thead th')).toHaveLength(2);
  });
});
