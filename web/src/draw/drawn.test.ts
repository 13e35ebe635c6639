import { expect, it } from 'vitest';

import { drawn } from './drawn';

it('counts drawings and shows the step', () => {
  const element = document.createElement('div');
  drawn(element, 7);
  drawn(element, 9);
  expect(element.dataset).toMatchObject({ drawn: '2', step: '9' });
  drawn(element, null);
  expect(element.dataset.step).toBeUndefined();
});
