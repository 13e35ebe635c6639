import { expect, it } from 'vitest';

import type { RunAnswer } from './api';
import { capturedCard, costCard, historyCard, missingCard, originCard, progressCard, rulesCard } from './cards';
import { coursePath } from './course';
import { diagnosisCard } from './diagnosis_card';
import { alarming, causeCard, isWell } from './cause_card';
import { Losses, lossesCard, lostLoss } from './losses_card';
import { systemCard } from './system_card';
import type { RuleAnswer, VerdictAnswer } from '../../data/firings';
import type { Series } from '../series';

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
  for (const part of ['12,345', 'died (Failed)', '2.5 steps a second', '12,000, the last is 11,999', '1 min 1 s', '1 of 2: rank-00000 (writing)']) expect(text).toContain(part);
});

it('shows up to where was trained when fewer steps were kept', () => {
  expect(progressCard(run).textContent).not.toContain('Trained');
  const text = progressCard({ ...run, progress: { ...run.progress, steps: 61, last_trained_step: 1999 } }).textContent!;
  expect(text).toContain('61 steps kept');
  expect(text).toContain('up to step 1,999');
});

it('puts rules that fired first, and says what to do when there are none', () => {
  const rows = [...rulesCard(run, [], '#/x').querySelectorAll('tbody tr')].map((row) => row.textContent);
  expect(rows).toEqual(['LossSpike⚑ fired', 'Quiet✓ found nothing']);
  expect(rulesCard({ ...run, rules: [] }, [], undefined).textContent).toContain('trainwarden check first');
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
  const answer = { diagnosis: first, findings: [first, { ...first, statement: 'Bad data', place: '', confidence: 0.3 }], apart: 'Measure it.', missing: [], doubt: '', failure: null, steps: 10, examined_steps: 3 };
  const shown = diagnosisCard(answer, true)!;
  expect(shown.querySelector('.diagnosis')!.textContent).toBe('The <b>rate</b> is too high (train.py:4). 88 % sure');
  expect([...shown.querySelectorAll('li')].map((line) => line.textContent)).toEqual(['1 of 2', 'against it: it fell once', 'Bad data. 30 % sure']);
  expect(shown.textContent).toContain('Next: Lower it.');
  expect(shown.textContent).toContain('To tell the first two apart: Measure it.');
  expect(diagnosisCard({ ...answer, diagnosis: null, findings: [] }, true)!.textContent).toContain('Nothing is wrong as far as 3 of 10 train steps show');
  expect(diagnosisCard({ ...answer, diagnosis: null, findings: [], examined_steps: 0 }, true)).toBeUndefined();
  const failed = diagnosisCard({ ...answer, diagnosis: null, findings: [], failure: 'exit code 1' }, true)!.textContent;
  expect(failed).toContain('The training failed: exit code 1. The 3 of 10 train steps that were examined do not show why.');
  expect(failed).not.toContain('Nothing is wrong');
});

it('says that a training is not well although nothing of it was found', () => {
  const nothing = { diagnosis: null, findings: [], apart: '', missing: [], doubt: '', failure: null, steps: 10, examined_steps: 3 };
  const text = diagnosisCard(nothing, false)!.textContent!;
  expect(text).not.toContain('Nothing is wrong');
  expect(text).toContain('do not show why');
  const doubted = diagnosisCard({ ...nothing, doubt: '2 of 9 looked-at losses are NaN or infinite' }, true)!.textContent!;
  expect(doubted).not.toContain('Nothing is wrong');
  expect(doubted).toContain('Something may be wrong: 2 of 9 looked-at losses are NaN or infinite.');
});

it('says how long it will take only where the run says how many steps it takes', () => {
  const going = { ...run, state: 'running' };
  expect(progressCard(going).textContent).toContain('not known: the run does not say');
  expect(progressCard(run).textContent).not.toContain('Time to go');
  const length = { total_steps: 24690, done_steps: 12345, label: 'total_steps', estimate: false, seconds_left: 125 };
  const text = progressCard({ ...going, progress: { ...run.progress, length } }).textContent!;
  for (const part of ['12,345 of 24,690 (50 %)', 'about 2 min 5 s']) expect(text).toContain(part);
  const epochs = progressCard({ ...run, progress: { ...run.progress, length: { ...length, label: 'epochs', estimate: true, seconds_left: undefined } } } as RunAnswer).textContent!;
  expect(epochs).toContain('of about 24,690');
  expect(epochs).not.toContain('Time to go');
});

const verdict = (more: Partial<VerdictAnswer>): VerdictAnswer => ({
  id: 'v', rule: 'r', step: 20, mode: 'global', mode_step: 20, outcome: 'fired', severity: 'error', confidence: 1, message: 'conv1 <b>exploded</b>', advice: 'Lower the rate',
  evidence: [{ tensor: 'conv1', tensor_id: '1', quantity: 'abs_max', value: 'Infinity', threshold: 100, step: 20 }], ...more });
const rule = (id: string, first: number, verdicts: VerdictAnswer[], more: Partial<RuleAnswer> = {}): RuleAnswer => ({
  id, rule: id, parameters: {}, state: 'IssuesFound', details: '', severity: 'error', fired: verdicts.length, first_fired_step: first, last_fired_step: first, steps: {}, modified_unix_ns: 0, journal: '', builtin: true, transitions: [], verdict_count: 1, verdicts, repeats: [], ...more });

it('tells the cause that rules found before what follows from it', () => {
  const rules = [rule('LossNan', 19, [verdict({ consequence_of: 'Exploding' })]), rule('Late', 30, [verdict({})]), rule('Exploding', 20, [verdict({})]), rule('Note', 1, [verdict({})], { severity: 'info' })];
  expect(alarming(rules).map(({ id }) => id)).toEqual(['Exploding', 'Late', 'LossNan']);
  const card = causeCard(run, { rules, lost: undefined }, '#/x');
  expect(card.querySelector('.diagnosis')!.textContent).toBe('conv1 <b>exploded</b>. Exploding, first at step 20');
  expect(card.querySelector('li')!.textContent).toBe('conv1: abs_max ∞, the limit is 100 (step 20)');
  for (const part of ['Next: Lower the rate.', 'It explains: LossNan', 'Also found: Late']) expect(card.textContent).toContain(part);
  expect(rulesCard({ ...run, rules: rules.map(({ id }) => ({ id, rule: id, status: 'IssuesFound', details: '' })) }, alarming(rules), undefined).querySelector('tbody tr')!.textContent).toContain('Exploding');
});

const series = (label: string, step: number[], value: number[], newest: number): Series => ({
  words: { id: label, name: label, of: 'scalar', worker: '', form: 'points', count: step.length, first_step: 0, last_step: step.at(-1)!, min: 1, max: 2, last: 1, newest, nan: Number(Number.isNaN(newest)), positive_inf: 0, negative_inf: 0, left: 0, unreadable: 0 },
  label, step: Float64Array.from(step), time: new Float64Array(step.length), value: Float64Array.from(value), oddities: Number.isNaN(newest) ? [{ step: 3, time: 0, kind: 'nan', count: 1 }] : [] });

it('does not call a training well whose loss is no number, whichever of its losses', () => {
  const losses = [series('val_loss', [0, 9], [2, 1], 1), series('loss', [0, 3], [2, NaN], NaN)];
  const lost = lostLoss(losses);
  expect(lost).toEqual({ label: 'loss', last: NaN, step: 3 });
  expect([isWell({ rules: [], lost }), isWell({ rules: [], lost: undefined })]).toEqual([false, true]);
  expect(causeCard({ ...run, rules: [] }, { rules: [], lost }, undefined).textContent).toContain('loss is NaN, not finite since step 3.');
  expect(causeCard({ ...run, rules: [] }, { rules: [], lost: undefined }, undefined).textContent).toContain('Nobody knows');
  expect(causeCard(run, { rules: [], lost: undefined }, undefined).textContent).toContain('1 rule has found nothing');
  const text = lossesCard(losses, '#/x')!.textContent!;
  for (const part of ['val_loss at step 9', 'loss', 'NaN']) expect(text).toContain(part);
  expect(lossesCard([], undefined)).toBeUndefined();
});

it('asks for the losses of a run alone', async () => {
  const { GivenSource } = await import('../insight_testing');
  const source = new GivenSource({ '/runs/aa/series/choices': { tensors: [{ id: '1', name: 'w', collections: ['weights'] }] } });
  expect(await new Losses(source, 'aa', new AbortController().signal).ask()).toEqual([]);
  expect(source.asked).toEqual(['/runs/aa/series/choices']);
});
