import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { SourceError } from '../../data/source';
import { contextOf, GivenSource, settled } from '../insight_testing';
import { mount } from './index';
import { sortedRows } from './operators_table';
import { FROM, nestedCalls, sampleCalls, sampleFlame, sampleProfile, sampleSteps, sampleTimeline, sampleWindows } from './profile_testing';
import { change } from './more_parts';

vi.setConfig({ testTimeout: 30_000 }); // the whole view is drawn each time

const RUN = '/runs/00000000000000aa';

function answers(profile = sampleProfile()): Record<string, unknown> {
  return { [`${RUN}/profile`]: profile, [`${RUN}/profile/steps`]: sampleSteps(), [`${RUN}/profile/timeline`]: sampleTimeline(), [`${RUN}/rules`]: { rules: [] },
    [`${RUN}/profile/windows`]: sampleWindows, [`${RUN}/profile/calls`]: sampleCalls(nestedCalls(500)), [`${RUN}/profile/flame`]: sampleFlame() };
}

async function shown(given: Record<string, unknown>, params: Record<string, string> = {}, step: number | null = null) {
  const element = document.createElement('section');
  document.body.replaceChildren(element);
  const context = contextOf(new GivenSource(given));
  const view = mount(element, context, { step, params });
  await settled();
  return { element, context, view, source: context.source as GivenSource };
}

beforeEach(() => {
  vi.stubGlobal('ResizeObserver', class { observe() {} disconnect() {} });
  vi.stubGlobal('IntersectionObserver', undefined); // all parts are near
});
afterEach(() => vi.unstubAllGlobals());

it('says first what slows the training down, what to do and what that gains', async () => {
  const { element } = await shown(answers());
  const verdict = element.querySelector('[data-verdict="finding"]')!;
  expect(element.querySelector('.panel')).toBe(verdict);
  expect(verdict.textContent).toContain('waits for its data');
  expect(verdict.textContent).toContain('Next: Give the DataLoader more workers');
  expect(verdict.textContent).toContain('1.9 × as fast');
  expect(verdict.textContent).toContain('between 1.6 × and 2.1 ×');
  expect(verdict.querySelector('a')!.getAttribute('href')).toBe('#/run/first/rules?rule=InputBound');
});

it('lists other findings, and folds the rules that found nothing with their reasons', async () => {
  const { element, context } = await shown(answers());
  expect([...element.querySelectorAll('[data-finding]')].map((each) => each.getAttribute('data-finding'))).toEqual(['CheckpointStalls', 'LowGPUUtilization']);
  expect(element.querySelector('[data-finding="LowGPUUtilization"]')!.textContent).toContain('InputBound explains it');
  const rules = element.querySelector('[data-part="rules"]')!;
  expect(rules.querySelector('summary')!.textContent).toBe('3 rules: 1 found nothing, 1 not enough data, 1 nothing to judge');
  expect(rules.querySelector('[data-rule="BatchSize"]')!.textContent).toContain('gpu_memory_p95 = 60');
  element.querySelector<HTMLElement>('[data-finding="CheckpointStalls"] td button')!.click();
  expect(context.sought).toEqual([600]);
});

it('leads from an outlier and from a place in time to the step', async () => {
  const { element, context } = await shown(answers());
  const link = element.querySelector<HTMLElement>('[data-outlier="1200"] a')!;
  expect(link.getAttribute('href')).toBe('#/run/first/system?step=1200');
  link.click();
  expect(context.sought).toEqual([1200]);
  expect(element.querySelector('[data-outlier="77"]')!.textContent).toContain('not known');
});

it('has the names of operators as texts', async () => {
  const { element } = await shown(answers(), { all: '1' });
  expect(element.querySelector('td b')).toBeNull();
  expect(element.querySelector('.operators')!.textContent).toContain('<b>hostile</b>\\u{202e}operator');
});

it('sorts operators by each column, both ways', () => {
  const { rows } = sampleProfile().operators!;
  expect(sortedRows(rows, 'self')[0]!.name).toBe('aten::addmm');
  expect(sortedRows(rows, '-self').at(-1)!.name).toBe('aten::addmm');
  expect(sortedRows(rows, 'name')[0]!.name < sortedRows(rows, 'name')[1]!.name).toBe(true);
  expect(sortedRows([{ ...rows[0]!, self_ms: null }, rows[1]!], 'self')[0]!.name).toBe(rows[1]!.name);
});

it('asks for finer buckets of a stretch, and cuts the whole where nobody answers', async () => {
  const given = answers();
  const { element, source } = await shown(given, { from: String(FROM + 60_000), to: String(FROM + 120_000) });
  expect(source.asked.some((address) => address.startsWith(`${RUN}/profile/timeline?buckets=`) && address.includes(`from_unix_ms=${FROM + 60_000}&to_unix_ms=${FROM + 120_000}`))).toBe(true);
  expect(element.textContent).not.toContain('Nobody can be asked');
  given[`${RUN}/profile/timeline`] = new SourceError('not found', 'This file does not hold it');
  const again = await shown(given, { from: String(FROM + 60_000), to: String(FROM + 120_000) });
  expect(again.element.textContent).toContain('Nobody can be asked for more detail');
});

it('zooms with keys', async () => {
  const { element, context } = await shown(answers());
  const line = element.querySelector<HTMLElement>('.time-line')!;
  line.dispatchEvent(new KeyboardEvent('keydown', { key: '+' }));
  expect(context.changes.at(-1)).toEqual({ from: String(FROM + 60_000), to: String(FROM + 180_000) });
  line.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));
  expect(context.said.at(-1)).toMatch(/^At .*data wait \d+ %.*processors \d+ %/);
  line.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
  expect(context.sought.at(-1)).toBeGreaterThan(1000);
});

it('says what gives data where there is none', async () => {
  const empty = sampleProfile();
  Object.assign(empty, { verdict: { kind: 'not_enough_data', rule: null, text: 'No train step has ended.', advice: null, step_share: null, gain: null }, workers: [], operators: null, stacks: null, memory: [], rules: [], usage: [], timeline: { ...empty.timeline, system: [], phases: [] } });
  Object.assign(empty.steps, { count: 0, histogram: null, duration_ms: null, outliers: [] });
  const { element } = await shown(answers(empty));
  for (const command of ['trainwarden run -- python train.py', 'trainwarden profile first --steps 10 --wait', 'trainwarden sample first', 'trainwarden check first --rules profiler']) expect(element.textContent).toContain(command);
});

it('does not say of a program whose steps were recorded that nobody watched it', async () => {
  const unphased = sampleProfile();
  for (const worker of unphased.workers) worker.phases = [];
  const { element } = await shown(answers(unphased));
  const phases = element.querySelector('[data-part="phases"]')!;
  expect(phases.textContent).toContain('Steps were recorded, but not what their time was spent on');
  expect(phases.textContent).not.toContain('not started under a hook');
});

it('lives without steps, rules and comparison, as a page in one file may have to', async () => {
  const { element } = await shown({ [`${RUN}/profile`]: sampleProfile() }, { b: '@before' }, 900);
  expect(element.dataset['drawn']).toBe('1');
  expect(element.querySelector('[data-part="comparison"]')!.textContent).toContain('Compared with before');
});

it('walks through the calls of a step, and says what each took', async () => {
  const { element, context, source } = await shown(answers(), {}, 6);
  expect(source.asked).toContain(`${RUN}/profile/calls?step=6&worker=rank-00000`);
  const box = element.querySelector<HTMLElement>('.calls')!;
  for (const key of ['ArrowRight', 'ArrowDown', 'ArrowRight']) box.dispatchEvent(new KeyboardEvent('keydown', { key }));
  expect(context.said.at(-1)).toMatch(/, \d.* (ms|µs), own /);
  expect(element.querySelector('[data-call]')!.textContent).toMatch(/Called by/);
  expect(element.querySelector('.calls')!.getAttribute('aria-label')).toContain('500 calls on 2 tracks');
});

it('shows flames of operators or of Python, and what took most in them', async () => {
  const { element, source, context } = await shown(answers(), { of: 'stacks', flame: 'total' });
  expect(source.asked).toContain(`${RUN}/profile/flame?of=stacks`);
  expect(element.querySelector('[data-part="flame"] tbody')!.childElementCount).toBe(10);
  const flame = element.querySelector<HTMLElement>('.flame')!;
  flame.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown' }));
  expect(context.said.at(-1)).toContain('rank-00000 thread 4711: 200 ms, 100 % of all');
});

it('says which step a file holds, where it holds one alone', async () => {
  const { element } = await shown(answers(), {}, 7);
  expect(element.querySelector('[data-part="window"]')!.textContent).toContain('This file holds the calls of step 5 alone');
});

it('asks before it loads a very large window', async () => {
  const given = answers();
  given[`${RUN}/profile/windows`] = [{ worker: 'rank-00000', step: 5, calls: 1_000_000, lost_calls: 0, has_stacks: false }];
  const { element, source } = await shown(given);
  expect(source.asked.some((address) => address.includes('/profile/calls'))).toBe(false);
  element.querySelector<HTMLElement>('[data-part="window"] [role="status"] button')!.click();
  await settled();
  expect(source.asked.some((address) => address.includes('/profile/calls'))).toBe(true);
});

it('says that calls are elsewhere when a file does not hold them', async () => {
  const given = answers();
  given[`${RUN}/profile/calls`] = given[`${RUN}/profile/flame`] = new SourceError('not found', 'This file does not hold it');
  const { element } = await shown(given);
  expect(element.querySelector('[data-part="window"]')!.textContent).toContain('shown by trainwarden serve');
  expect(element.querySelector('[data-part="flame"]')!.textContent).toContain('trainwarden export first stacks.json --to speedscope');
});

it('says why when there is no answer at all', async () => {
  const { element } = await shown({});
  expect(element.querySelector('[role="alert"]')!.textContent).toContain('there is no');
});

it('compares with another run', async () => {
  expect([change(90, 100), change(110, 100), change(1, 1), change(null, 1), change(1, 0)]).toEqual(['−10 %', '+10 %', 'the same', '', '']);
  const compared = { ...sampleProfile(), comparison: { run: 'before', rows: [{ what: 'median step', unit: 'ms', here: 98, there: 151 }] } };
  const given = answers();
  given[`${RUN}/profile`] = (address: string) => (address.includes('against=') ? compared : sampleProfile());
  const { element } = await shown(given, { b: '@before' });
  expect(element.querySelector('[data-part="comparison"]')!.textContent).toContain('median step98 ms151 ms−35 %');
});

it('gives its tables and its picture away', async () => {
  const { view } = await shown(answers());
  const csv = await (await view.snapshot('csv'))!.data.text();
  expect(csv).toContain('operator,aten::addmm,operator,ms,900');
  expect(csv).toContain('machine,read from disk,box nvme0n1,bytes/s');
  const svg = await (await view.snapshot('svg'))!.data.text();
  expect(svg).toContain('Time line. Phases on average');
  expect(svg).not.toMatch(/NaN|undefined/);
  expect(await view.snapshot('npy')).toBeUndefined();
});
