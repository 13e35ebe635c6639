import { beforeEach, describe, expect, it, vi } from 'vitest';

import { idOf } from '../../data/ids';
import { Arrays, type NdArray } from '../../data/safetensors';
import { contextOf, GivenSource, settled } from '../insight_testing';
import { matrixAsCsv, matrixAsNpy, matrixAsSvg } from './files';
import { mount } from './index';
import { cellAt, heightFor, layoutOf } from './layout';
import { cellInWords, cellValue, changeInWords, matrixOf, ordered, placeOnScale, scaleEnd, summaryOf, topConfusions } from './matrix';
import { alignedTo, shadingOf } from './shading';

function f64(values: number[], shape: number[]): NdArray {
  const data = Float64Array.from(values);
  return { dtype: 'F64', shape, bytes: new Uint8Array(data.buffer), values: () => data };
}

// ant: 2 right; bee: 1 right, 3 taken for ants; the rest: 4 among themselves
function answer(step = 9): Arrays {
  const row = (actual: number, predicted: number, hits: number) => {
    const [p, r] = [hits / predicted, hits / actual];
    return [actual, predicted, hits, p, p / 2, (1 + p) / 2, r, r / 2, (1 + r) / 2, (2 * hits) / (actual + predicted)];
  };
  return new Arrays(
    new Map([
      ['counts', f64([2, 0, 0, 3, 1, 0, 0, 0, 4], [3, 3])],
      ['classes', f64([0, 1, NaN], [3])],
      ['numbers', f64([...row(2, 5, 2), ...row(4, 1, 1), ...row(4, 4, 0)], [3, 10])],
    ]),
    {
      columns: JSON.stringify(['actual', 'predicted', 'hits', 'precision', 'precision_low', 'precision_high', 'recall', 'recall_low', 'recall_high', 'f1']),
      names: JSON.stringify(['ant', '<b>bee</b>', 'other']), names_source: 'label classes of the run', samples: '10', folded_classes: '5',
      accuracy: '[0.3, 0.1, 0.6]', steps: '4', counted_steps: '2', first_step: String(step - 1), last_step: String(step), unfit_steps: '0', first_problem: '',
    },
  );
}

const BEE_FOR_ANT = "<b>bee</b> taken for ant: 3 of 10 samples, 75.0 % of the label's 4, 60.0 % of the prediction's 5";

describe('the matrix', () => {
  const matrix = matrixOf(answer());

  it('is normalised by row, column and all', () => {
    expect(cellValue(matrix, 1, 0, 'counts')).toBe(3);
    expect(cellValue(matrix, 1, 0, 'rows')).toBe(0.75);
    expect(cellValue(matrix, 1, 0, 'columns')).toBe(0.6);
    expect(cellValue(matrix, 1, 0, 'all')).toBe(0.3);
    expect(scaleEnd(matrix, { normalisation: 'counts', logarithmic: false, hideDiagonal: false })).toBe(4);
    expect(scaleEnd(matrix, { normalisation: 'counts', logarithmic: false, hideDiagonal: true })).toBe(3);
  });

  it('is sorted, the rest of the classes last', () => {
    expect(ordered(matrix, 'number')).toEqual([0, 1, 2]);
    expect(ordered(matrix, 'recall')).toEqual([1, 0, 2]);
    expect(ordered(matrix, 'actual')).toEqual([1, 0, 2]);
    expect(ordered(matrix, 'precision')).toEqual([0, 1, 2]);
  });

  it('says what is confused most, and every number of a cell', () => {
    expect(topConfusions(matrix, 3)).toEqual([{ actual: 1, predicted: 0, count: 3 }]);
    expect(cellInWords(matrix, 1, 0)).toBe(BEE_FOR_ANT);
    expect(summaryOf(matrix)).toBe('Accuracy 30.0 % (10.0–60.0) over 10 samples of 3 classes, 2 steps from 8 to 9. Taken most often: <b>bee</b> for ant (3).');
  });

  it('has a logarithmic scale on which one is seen beside thousands', () => {
    expect(placeOnScale(0, 5000, true)).toBe(0);
    expect(placeOnScale(1, 5000, true)).toBeCloseTo(0.1);
    expect(placeOnScale(5000, 5000, true)).toBe(1);
    expect(placeOnScale(1, 5000, false)).toBeCloseTo(0.0002);
    expect(placeOnScale(1, 1, true)).toBe(1);
  });

  it('finds the cell under a place again', () => {
    const layout = layoutOf(600, heightFor(600, 3), 3);
    expect(layout).toMatchObject({ cell: 64, labels: true, numbers: true });
    expect(cellAt(layout, layout.left + 1, layout.top + 65)).toEqual({ row: 1, column: 0 });
    expect(cellAt(layout, 2, 2)).toBeNull();
    expect(layoutOf(600, 600, 1000).labels).toBe(false);
  });

  it('is given away as CSV, NPY and SVG', async () => {
    const shown = { matrix, order: ordered(matrix, 'number'), other: null, colouring: { normalisation: 'counts', logarithmic: false, hideDiagonal: true } as const };
    const csv = (await matrixAsCsv(shown).text()).split('\r\n');
    expect(csv[2]).toMatch(/^<b>bee<\/b>,3,1,0,1,/);
    expect(matrixAsNpy(shown)!.size).toBe(128 + 9 * 8);
    expect(matrixAsSvg(shown).toString()).not.toContain('<b>');
  });
});

describe('the difference from another matrix', () => {
  const matrix = matrixOf(answer());
  const swapped = { ...matrix, rows: [matrix.rows[1]!, matrix.rows[0]!, { ...matrix.rows[2]!, name: 'elsewhere' }], counts: Float64Array.from([0, 4, 0, 0, 2, 0, 0, 0, 4]) };

  it('is taken class by class, by name', () => {
    const { aligned, missing } = alignedTo(matrix, swapped);
    expect(missing).toBe(1);
    expect([...aligned.counts]).toEqual([2, 0, 0, 4, 0, 0, 0, 0, 0]);
    const shading = shadingOf({ matrix, order: [0, 1, 2], other: aligned, colouring: { normalisation: 'counts', logarithmic: false, hideDiagonal: false } });
    expect([shading.value(0, 0), shading.value(1, 0), shading.value(1, 1)]).toEqual([0, -1, 1]);
    expect([shading.text(0), shading.text(-1), shading.text(1)]).toEqual(['0', '−1', '+1']);
    const [red, , blue] = shading.colour(4).match(/\d+/g)!.map(Number);
    expect(red!).toBeGreaterThan(blue!); // orange: more here
    expect(changeInWords(matrix, aligned, 1, 0)).toBe("; in B 4 of 10, 100.0 % of the label's 4: −25.0 points");
  });
});

describe('the view', () => {
  const tensors = {
    labels: { id: 'aa', name: 'labels' }, predictions: { id: 'bb', name: 'logits' },
    candidates: { labels: [{ id: 'aa', name: 'labels', reason: 'by its name' }], predictions: [{ id: 'bb', name: 'logits', reason: 'by its name' }] },
    steps: [[4, 5, 3]],
  };
  const run = '/runs/00000000000000aa';
  let element: HTMLElement;
  beforeEach(() => {
    document.body.replaceChildren();
    element = document.createElement('div');
    document.body.append(element);
  });

  function source(): GivenSource {
    return new GivenSource({
      [`${run}/confusion/tensors`]: tensors,
      [`${run}/confusion`]: (address: string) => answer(Number(/to=(\d+)/.exec(address)![1])),
    });
  }

  it('shows the newest step at or before the cursor, and the steps before it when asked to', async () => {
    const given = source();
    const view = mount(element, contextOf(given), { step: 12, params: {} });
    await settled();
    expect(given.asked.at(-1)).toBe(`${run}/confusion?from=9&labels=aa&predictions=bb&to=9`);
    expect(element.dataset['step']).toBe('9');
    expect(element.querySelector('[data-summary]')!.textContent).toContain('Accuracy 30.0 %');
    expect(view.steps!()).toEqual([4, 9, 14]);
    view.update({ step: null, params: { span: '10' } });
    await settled();
    expect(given.asked.at(-1)).toBe(`${run}/confusion?from=4&labels=aa&predictions=bb&to=14`);
    const asked = given.asked.length;
    view.update({ step: 12, params: {} });
    await settled();
    expect(given.asked.length).toBe(asked); // it is known
    view.update({ step: 3, params: {} });
    await settled();
    expect(element.dataset['step']).toBe('4');
    expect(element.querySelector('[data-why]')!.textContent).toBe('Step 3 does not hold labels and predictions whole; the first that does is 4.');
  });

  it('asks again where news come while it asks', async () => {
    const given = source();
    const view = mount(element, contextOf(given), { step: null, params: {} });
    given.answers[`${run}/confusion/tensors`] = { ...tensors, steps: [[4, 5, 4]] };
    view.update({ step: null, params: {} });
    await settled();
    expect(element.dataset['step']).toBe('19');
  });

  it('shows the difference from the step or the run that the link compares with', async () => {
    const given = source();
    const other = '/runs/' + idOf('second');
    given.answers[`${other}/confusion/tensors`] = { ...tensors, steps: [[2, 1, 1]] };
    given.answers[`${other}/confusion`] = answer(2);
    const view = mount(element, contextOf(given), { step: 9, params: { b: '4' } });
    await settled();
    expect(given.asked.at(-1)).toBe(`${run}/confusion?from=4&labels=aa&predictions=bb&to=4`);
    expect(element.querySelector('[data-other]')!.textContent).toContain('The cells show the difference from B: orange is more here');
    view.update({ step: 9, params: { b: '@second' } });
    await settled();
    expect(given.asked.at(-1)).toBe(`${other}/confusion?from=2&labels=aa&predictions=bb&to=2`);
    expect(element.querySelector('[data-classes]')!.textContent).toContain('Recall in B');
    view.update({ step: 9, params: {} });
    await settled();
    expect(element.querySelector('[data-other]')).toBeNull();
  });

  it('moves over cells by keys and tells their numbers', async () => {
    const context = contextOf(source());
    const view = mount(element, context, { step: 9, params: { cell: '1,0' } });
    await settled();
    expect(element.querySelector('[data-cell]')!.textContent).toBe(BEE_FOR_ANT);
    const frame = element.querySelector<HTMLElement>('.confusion-frame')!;
    frame.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true, cancelable: true }));
    expect(context.changes.at(-1)).toEqual({ cell: '1,1' });
    expect(element.querySelector('[data-cell]')!.textContent).toContain('taken for itself: 1 of 10');
    expect(element.querySelector('canvas')!.getAttribute('aria-label')).toContain('Accuracy');
    expect(element.querySelector('b')).toBeNull();
    expect((await view.snapshot('csv'))!.fileName).toBe('first-confusion-9.csv');
    view.destroy();
  });

  it('shows the samples of the cell that is chosen', async () => {
    const given = source();
    given.answers[`${run}/confusion/samples`] = { samples: [{ step: 9, worker: '', place: [3] }, { step: 9, worker: '', place: [7] }, { step: 4, worker: 'rank-00001', place: [1, 2] }], more: true };
    vi.useFakeTimers();
    mount(element, contextOf(given), { step: 9, params: { cell: '1,0' } });
    await vi.advanceTimersByTimeAsync(400);
    vi.useRealTimers();
    expect(given.asked.at(-1)).toBe(`${run}/confusion/samples?actual=1&from=8&labels=aa&predicted=0&predictions=bb&to=9`);
    const samples = element.querySelector('[data-samples]')!;
    expect([...samples.querySelectorAll('li')].map((item) => item.textContent)).toEqual(['step 9: 3, 7', 'step 4: [1, 2] of rank-00001']);
    expect(samples.querySelector('a')!.getAttribute('href')).toBe('#/run/first/tensors?tensor=labels&step=9');
    expect(samples.textContent).toContain('and others');
  });

  it('says what to do when nothing was found', async () => {
    const nothing = { labels: null, predictions: null, candidates: { labels: [], predictions: [] }, steps: [] };
    mount(element, contextOf(new GivenSource({ [`${run}/confusion/tensors`]: nothing })), { step: null, params: {} });
    await settled();
    expect(element.textContent).toContain('No tensors of labels and predictions were found');
  });
});
