import { expect, it } from 'vitest';

import type { RunAnswer } from './api';
import { capturedCard, costCard, historyCard, missingCard, originCard, progressCard, rulesCard } from './cards';
import { coursePath } from './course';
import { diagnosisCard } from './diagnosis_card';
import { systemCard } from './system_card';

const run: RunAnswer = {
  id: '1f', name: 'first', state: 'died', secondary_status: 'Failed', recorder: 'trainwarden', run_id: 'aa', host: 'box', framework: 'PyTorch 2.11.0',
  command: ['python', 'train.py', '--name', "it's <b>"], labels: {}, created_unix_ms: 1000, last_unix_ms: 62000, world_size: 2,
  workers: [{ name: 'rank-00000', writing: true }],
  progress: { steps: 12345, last_step: 12344, last_trained_step: 12344, steps_per_second: 2.5, modes: [{ mode: 'train', steps: 12000, last_mode_step: 11999 }] },
  loss: null, transitions: [{ status: 'Training', start_unix_ms: 1000, end_unix_ms: 61000, message: 'signal 9 (Killed)' }],
  rules: [{ id: 'a', rule: 'Quiet', status: 'NoIssuesFound', details: '' }, { id: 'b', rule: 'LossSpike', status: 'IssuesFound', details: 'at 3' }],
  tensors: 3, journal_bytes: 2048, collections: [{ name: 'losses', tensors: 1, every: { train: 10 } }],
  bills: [], losses: [{ where: 'x', cause: 'staging_full', count: 3, bytes: 0, by_writer: true }], checkpoints: [],
};

it('shows how the run stands', () => {
  const text = progressCard(run).textContent!;
  for (const part of ['12,345', 'died (Failed)', '2.5 steps a second', '12,000, the last 11,999', '1 min 1 s', 'rank-00000 (writing) of 2']) expect(text).toContain(part);
});

it('shows up to where was trained when fewer steps were kept', () => {
  expect(progressCard(run).textContent).not.toContain('Trained');
  const text = progressCard({ ...run, progress: { ...run.progress, steps: 61, last_trained_step: 1999 } }).textContent!;
  expect(text).toContain('61 steps kept');
  expect(text).toContain('up to step 1,999');
});

it('puts rules that fired first, and says what to do when there are none', () => {
  const rows = [...rulesCard(run, '#/x').querySelectorAll('tbody tr')].map((row) => row.textContent);
  expect(rows).toEqual(['LossSpike⚑ fired', 'Quiet✓ found nothing']);
  expect(rulesCard({ ...run, rules: [] }, undefined).textContent).toContain('trainwarden check first');
});

it('shows what was captured, what is missing, where it ran and how it ended', () => {
  expect(capturedCard(run, undefined).textContent).toContain('2.00 KiB');
  expect(capturedCard(run, undefined).textContent).toContain('losses110 steps');
  expect(missingCard(run)!.textContent).toContain('staging_full3x (never written)');
  expect(missingCard({ ...run, losses: [] })).toBeUndefined();
  expect(costCard(run)).toBeUndefined();
  expect(historyCard(run)!.textContent).toContain('signal 9 (Killed)');
  const origin = originCard(run);
  expect(origin.querySelector('b')).toBeNull();
  expect(origin.textContent).toContain('Trained withPyTorch 2.11.0');
  expect(origin.textContent).toContain(`python train.py --name 'it'\\''s <b>'`);
});

it('draws the course of the loss', () => {
  expect(coursePath([0, 10, 20, 30], [1, 0, NaN, 1], 30, 100)).toBe('M0.0 3.0L10.0 97.0M30.0 3.0');
  expect(coursePath([], [], 30, 100)).toBe('');
});

it('shows what the machine does now, by what tells most', () => {
  const line = (kind: string, unit: string, values: (number | null)[]) => ({ kind, label: kind, unit, instance: 'box', part: '', values });
  const timeline = { buckets: 3, system: [line('cpu', '%', [1, 2, 90]), line('cgroup_cpu', '%', [20, 48.4, null]), line('throttled', 'threads', [0, 0, 0]), line('training_memory', 'bytes', [1, 2 ** 30, 2 ** 31]), line('core', '%', [1, 1, 1])] };
  const rows = [...systemCard(timeline, '#/x')!.querySelectorAll('tbody tr')].map((row) => row.textContent);
  expect(rows).toEqual(['cgroup_cpu48 %', 'training_memory2.00 GiB']);
  expect(systemCard({ buckets: 0, system: [] }, undefined)).toBeUndefined();
});

it('speaks of the diagnosis in one sentence, with its evidence and the next step', () => {
  const first = { cause: 'a', confidence: 0.88, statement: 'The <b>rate</b> is too high', evidence: ['1 of 2'], against: ['it fell once'], next_step: 'Lower it.', place: 'train.py:4' };
  const answer = { diagnosis: first, findings: [first, { ...first, statement: 'Bad data', place: '', confidence: 0.3 }], apart: 'Measure it.', missing: [], failure: null, steps: 10, examined_steps: 3 };
  const shown = diagnosisCard(answer)!;
  expect(shown.querySelector('.diagnosis')!.textContent).toBe('The <b>rate</b> is too high (train.py:4). 88 % sure');
  expect([...shown.querySelectorAll('li')].map((line) => line.textContent)).toEqual(['1 of 2', 'against it: it fell once', 'Bad data. 30 % sure']);
  expect(shown.textContent).toContain('Next: Lower it.');
  expect(shown.textContent).toContain('To tell the first two apart: Measure it.');
  expect(diagnosisCard({ ...answer, diagnosis: null, findings: [] })!.textContent).toContain('Nothing is wrong as far as 3 of 10 train steps show');
  expect(diagnosisCard({ ...answer, diagnosis: null, findings: [], examined_steps: 0 })).toBeUndefined();
  const failed = diagnosisCard({ ...answer, diagnosis: null, findings: [], failure: 'exit code 1' })!.textContent;
  expect(failed).toContain('The training failed: exit code 1. The 3 of 10 train steps that were examined do not show why.');
  expect(failed).not.toContain('Nothing is wrong');
});
