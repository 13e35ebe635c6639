import { expect, it } from 'vitest';

import { searched, tellingNames } from '../value_rows';
import type { ComponentRow } from './api';
import { componentOf } from './rows';

const row: ComponentRow = {
  name: 'bert-7-aws-training-job', display_name: 'bert', job: 'bert-7', status: 'Completed', message: '', created_unix_ms: 0,
  start_unix_ms: 1000, end_unix_ms: 3000, trials: ['cnn'], parameters: { lr: 0.5, loss: 'mse' },
  metrics: { loss: { last: 'NaN', min: 1, max: 3, avg: 2, count: 2 }, accuracy: { last: 0.9, min: 0, max: 1, avg: 0.5, count: 9 } },
};

it('has parameters and metrics as values, and tells those of one name apart', () => {
  const component = componentOf(row, 9000);
  expect([...component.measured]).toEqual([['lr', 0.5], ['loss', 'mse'], ['metric loss', NaN], ['accuracy', 0.9]]);
  expect(component.lastedMs).toBe(2000);
  expect(searched([component], 'accuracy>=0.9 trial=cnn')).toHaveLength(1);
  expect(searched([component], 'accuracy<0.9')).toHaveLength(0);
  expect(tellingNames([{ values: component.measured }])).toContain('accuracy');
});

it('counts the time of a component that has not ended until now, and of one that never began not at all', () => {
  expect(componentOf({ ...row, end_unix_ms: null, status: 'InProgress' }, 9000).lastedMs).toBe(8000);
  expect(componentOf({ ...row, start_unix_ms: null }, 9000).lastedMs).toBeUndefined();
});
