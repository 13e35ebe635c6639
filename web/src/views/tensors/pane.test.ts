// Which step is shown of a tensor that was not kept whole at the cursor, and what is said of it.
import { describe, expect, it } from 'vitest';

import type { TensorInfo } from './api';
import { type Look, stepOf, whyAnotherStep } from './pane';

/** Whole at 10 and 20, statistics at each step from 0 to 29. */
function lookAt(step: number | null): Look {
  const info: TensorInfo = {
    id: 'a', name: 'a', dtype: 'float32', shape: [2], collections: [], workers: [], modes: [],
    steps: [[0, 1, 30]], forms: { value: [[10, 10, 2]], statistics: [[0, 1, 30]] },
  };
  return { info, step, params: {} };
}

describe('the step that is shown', () => {
  it('is the newest before the cursor with what is needed, where there is none the first', () => {
    expect([0, 9, 10, 15, 29, null].map((step) => stepOf(lookAt(step), 'value'))).toEqual([10, 10, 10, 10, 20, 20]);
    expect([0, 15, 99, null].map((step) => stepOf(lookAt(step)))).toEqual([0, 15, 29, 29]);
  });

  it('is reported when it is another than that of the cursor', () => {
    expect(whyAnotherStep(lookAt(10))).toBe('');
    expect(whyAnotherStep(lookAt(15))).toBe('Step 15 has numbers about the tensor, but not its value; step 10 is shown, the newest before it that has.');
    expect(whyAnotherStep(lookAt(3))).toBe('Step 3 has numbers about the tensor, but not its value; step 10 is shown, the first that has.');
    expect(whyAnotherStep(lookAt(40))).toBe('Step 40 does not have the tensor; step 20 is shown, the newest before it that has.');
    expect(whyAnotherStep(lookAt(null))).toBe('Step 29 has numbers about the tensor, but not its value; step 20 is shown, the newest before it that has.');
  });
});
