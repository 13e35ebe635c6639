import { beforeEach, describe, expect, it } from 'vitest';

import { idOf } from '../../data/ids';
import { SourceError } from '../../data/source';
import { contextOf, GivenSource, settled } from '../insight_testing';
import { Comparing, joined, type CompareAnswer, type PartingAnswer } from './answer';
import { commonLosses, curvesChart } from './curves';
import { mount } from './index';
import { differenceInWords, verdictInWords } from './words';

function parting(more: Partial<PartingAnswer> = {}): PartingAnswer {
  return { tensor: '<i>w</i>', tensor_id: 'dd', worker: '', form: 'value', quantity: '', a: 4, b: 4.5, place: 2, difference: 0.5, relative: 0.5 / 4.5, differing: 1, elements: 3, ...more };
}

function answer(more: Partial<CompareAnswer> = {}): CompareAnswer {
  return {
    a: { id: 'aa', name: 'first' }, b: { id: 'bb', name: 'second' }, tolerance: 0,
    fields: [
      { group: 'run', name: 'steps', a: '60', b: '60', differs: false },
      { group: 'label', name: 'learning_rate', a: '0.1', b: '0.2', differs: true },
    ],
    common_tensors: 9, only_a: { count: 1, names: ['only_here'] }, only_b: { count: 0, names: [] },
    common_steps: 60, compared_steps: 60, compared_tensors: 540, damaged: 0, last_step: 59, cut: false, parting: null, ...more,
  };
}

const parted = answer({ parting: { step: 40, mode: 'train', mode_step: 33, tensor_count: 3, tensors: [parting()] } });

describe('words', () => {
  it('say where runs part and how far', () => {
    expect(verdictInWords(parted)).toBe('first and second part at step 40 (train 33), first in <i>w</i> and in 2 more tensors.');
    expect(verdictInWords(answer({ tolerance: 1e-6 }))).toBe('first and second are the same within 0.000001: 540 tensors at 60 steps.');
    expect(verdictInWords(answer({ cut: true }))).toContain('so far');
    expect(verdictInWords(answer({ common_steps: 0 }))).toContain('no step in common');
    expect(differenceInWords(parting())).toBe('4 against 4.5 at element 2: 0.5 apart (11.1 % of the largest magnitude), 1 of 3 elements differ');
    expect(differenceInWords(parting({ form: 'statistics', quantity: 'abs_max', place: -1, elements: 0 }))).toBe('abs_max 4 against 4.5: 0.5 apart (11.1 % of the largest magnitude)');
    expect(differenceInWords(parting({ b: 'NaN', difference: 'Infinity', relative: 'Infinity' }))).toContain('not both are finite');
    expect(differenceInWords(parting({ form: 'dtype and shape', quantity: 'float32 [2] and float32 [3]' }))).toBe('float32 [2] and float32 [3]');
  });
});

describe('comparing', () => {
  it('goes on behind the last step while the answer is cut, and adds up', async () => {
    const source = new GivenSource({
      '/compare': (address: string) => {
        const from = Number(/from=(\d+)/.exec(address)![1]);
        return answer({ compared_steps: 10, compared_tensors: 90, last_step: from + 9, cut: from < 20 });
      },
    });
    const told: CompareAnswer[] = [];
    await new Comparing(source, { a: 'aa', b: 'bb', tolerance: 0 }, (each) => told.push(each)).run();
    expect(source.asked.map((address) => /from=(\d+)/.exec(address)![1])).toEqual(['0', '10', '20']);
    expect(told.at(-1)).toMatchObject({ compared_steps: 30, compared_tensors: 270, last_step: 29, cut: false });
    expect(joined(told[0]!, answer({ last_step: -1 })).last_step).toBe(9);
  });

  it('asks a busy server again, and gives up on other faults', async () => {
    let busy = 2;
    const source = new GivenSource({ '/compare': () => {
      if (busy-- > 0) throw new SourceError('unavailable', 'busy');
      return answer();
    } });
    const told: CompareAnswer[] = [];
    await new Comparing(source, { a: 'aa', b: 'bb', tolerance: 0 }, (each) => told.push(each), async () => undefined).run();
    expect(told).toHaveLength(1);
    await expect(new Comparing(new GivenSource({}), { a: 'aa', b: 'cc', tolerance: 0 }, () => undefined).run()).rejects.toThrow('there is no /compare');
  });
});

describe('curves', () => {
  it('are those of the losses that both have', async () => {
    const tensor = (name: string, collection: string) => ({ id: idOf(name), name, collections: [collection] });
    const source = new GivenSource({
      '/runs/aa/series/choices': { tensors: [tensor('loss', 'losses'), tensor('only_a', 'losses'), tensor('w', 'weights')] },
      '/runs/bb/series/choices': { tensors: [tensor('loss', 'losses'), tensor('w', 'weights')] },
    });
    expect((await commonLosses(source, 'aa', 'bb')).map(({ name }) => name)).toEqual(['loss']);
  });

  it('say where they end and where the runs part', () => {
    const curves = { name: 'loss', a: { steps: [0, 1, 2], values: [3, NaN, 1], holes: [1] }, b: { steps: [0, 4], values: [3, 2] } };
    const svg = curvesChart(curves, { a: 'first', b: 'second' }, 2);
    expect(svg.getAttribute('aria-label')).toBe('loss over steps 0 to 4: first ends at 1, not finite at 1 place (first step 1), second at 2; they part at step 2.');
    expect(svg.querySelector('.hole')!.getAttribute('d')).toMatch(/^M/);
    expect(svg.querySelector('.a')!.getAttribute('d')!.match(/M/g)).toHaveLength(2);
    expect(curvesChart(curves, { a: 'first', b: 'second' }, null).querySelector('.parting')).toBeNull();
  });
});

describe('the view', () => {
  let element: HTMLElement;
  beforeEach(() => {
    document.body.replaceChildren();
    element = document.createElement('div');
    document.body.append(element);
  });
  const source = () => new GivenSource({ '/runs': { runs: [{ name: 'first', metrics: { accuracy: 0.9, loss: 1 } }, { name: 'second', metrics: { accuracy: 'NaN', loss: 1 } }] }, '/compare': parted });

  it('asks for the other run', async () => {
    const context = contextOf(source());
    mount(element, context, { step: null, params: {} });
    await settled();
    const select = element.querySelector<HTMLSelectElement>('#compare-run')!;
    expect([...select.options].map((option) => option.value)).toEqual(['', 'second']);
    select.value = 'second';
    select.dispatchEvent(new Event('change'));
    expect(context.changes).toEqual([{ b: '@second' }]);
  });

  it('shows where they part with links into both runs, and what differs by a sign', async () => {
    const given = source();
    const context = contextOf(given);
    const view = mount(element, context, { step: null, params: { b: '@second' } });
    await settled();
    expect(given.asked).toContain(`/compare?a=00000000000000aa&b=${idOf('second')}&from=0&tolerance=0`);
    expect(element.querySelector('.compare-verdict')!.textContent).toContain('part at step 40');
    expect([...element.querySelectorAll('[data-partings] a')].map((link) => link.getAttribute('href'))).toEqual([
      '#/run/first/tensors?step=40&tensor=%3Ci%3Ew%3C%2Fi%3E',
      '#/run/second/tensors?step=40&tensor=%3Ci%3Ew%3C%2Fi%3E',
    ]);
    expect(element.querySelector('[data-differs="true"]')!.textContent).toBe('≠ differslearning_rate0.10.2');
    expect(element.querySelectorAll('[data-differs]')).toHaveLength(2); // the other: a metric
    expect(element.querySelector('h2')!.textContent).toBe('What differs: learning_rate');
    expect(element.textContent!.indexOf('What differs')).toBeLessThan(element.textContent!.indexOf('part at step 40')); // configurations first
    expect(element.querySelector('i')).toBeNull();
    element.querySelector<HTMLButtonElement>('section button')!.click();
    expect(context.sought).toEqual([40]);
    expect(element.dataset['step']).toBe('40');
    const asked = given.asked.length;
    view.update({ step: 3, params: { b: '@second', same: '1' } });
    await settled();
    expect(given.asked.length).toBe(asked);
    expect([...element.querySelectorAll('[data-differs]')].map((row) => row.textContent)).toEqual(['≠ differslearning_rate0.10.2', '= the samesteps6060', '≠ differsaccuracy0.9NaN', '= the sameloss11']);
    expect(await (await view.snapshot('csv'))!.data.text()).toContain('step 40,<i>w</i>,4,4.5,0.5');
  });
});
