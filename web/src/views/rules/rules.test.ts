import { beforeEach, describe, expect, it, vi } from 'vitest';

import type { RuleAnswer, VerdictAnswer } from '../../data/firings';
import { SourceError } from '../../data/source';
import { contextOf, GivenSource, settled } from '../insight_testing';
import { chosenRule, chosenVerdict } from './chosen';
import { verdictPart } from './detail';
import { chartInWords, evidenceChart, lineOf, scaleOf } from './evidence_chart';
import { EvidenceCharts } from './evidence_charts';
import { mount } from './index';
import { knobOf, placeOf, valueAt } from './parameters';
import { prose } from './prose';
import { strip } from './strip';
import { WhatIfAsker, type WhatIfAnswer } from './what_if';
import { stepsInWords, summaryOf } from './words';

const HOSTILE = '<img src=x onerror="owned()">\u202e';

function verdictAt(step: number, more: Partial<VerdictAnswer> = {}): VerdictAnswer {
  return {
    id: 'VanishingGradient', rule: 'VanishingGradient', step, mode: 'train', mode_step: step - 1, outcome: 'fired',
    severity: 'warning', confidence: 1, message: `vanished at ${step}`, advice: 'Look at the layers.',
    evidence: [{ tensor: HOSTILE, tensor_id: 'bb', quantity: 'abs_mean', value: 1e-9, threshold: 1e-7, step }],
    ...more,
  };
}

function rule(id: string, state: string, verdicts: VerdictAnswer[] = []): RuleAnswer {
  return {
    id, rule: 'VanishingGradient', parameters: { threshold: '1e-7' }, state, details: `${id} details`,
    severity: verdicts[0]?.severity ?? null, fired: verdicts.length, first_fired_step: verdicts[0]?.step ?? -1,
    last_fired_step: verdicts.at(-1)?.step ?? -1, steps: { ok: 3, fired: verdicts.length }, modified_unix_ns: 1e18,
    journal: 'watch-0', builtin: true, transitions: [{ state, unix_ns: 1e18, details: '' }],
    verdict_count: verdicts.length, verdicts, repeats: [],
  };
}

const kinds = [{
  rule: 'VanishingGradient', summary: 'Fires when gradients vanish.', topic: 'gradients', source: 'ours',
  details: 'Fires when `abs_mean` is small.\n\nSecond.',
  parameters: [{ name: 'threshold', default: '1e-7', description: 'mean magnitude' }],
}];

function judged(fired: number[]) {
  return { parameters: {}, state: fired.length > 0 ? 'IssuesFound' : 'InProgress', details: '', steps: { ok: 10 - fired.length, fired: fired.length }, fired: fired.length, fired_steps: fired, noted: 0, noted_steps: [], first: fired.length > 0 ? verdictAt(fired[0]!) : null };
}

const whatIf: WhatIfAnswer = { rule: 'VanishingGradient', steps: 10, judged_steps: 10, first_step: 0, last_step: 9, cut: 'no', now: judged([7]), changed: judged([4, 7]) };

function sourceOf(rules: RuleAnswer[]): GivenSource {
  const run = '/runs/00000000000000aa';
  return new GivenSource({
    '/rules': { kinds },
    [`${run}/rules`]: { rules },
    [`${run}/steps`]: { steps: [[0, 1, 10]] },
    [`${run}/events`]: {
      events: [{ seq: 1, type: 't', subject: 's', unix_ns: 1e18, change: { kind: 'alert', rule: 'A', from: '', to: '' }, step: 7, headline: HOSTILE, text: '',
        deliveries: [{ subscription: 'ops', action: 'webhook', place: 'https://x', state: 'dead', state_text: 'dead', attempts: 3, answer: '400', message: 'no', unix_ns: 0 }] }],
      last_seq: 1, recording: true, unreadable: 0, lost_events: 0,
    },
    [`${run}/blackboxes`]: { black_boxes: [{ path: 'blackbox/step-7', run: { id: 'cc', name: 'first/blackbox/step-7' }, failing_step: 7, why: { kind: 'rule', message: 'it fired' }, steps: [{ global_step: 5 }, { global_step: 7 }] }] },
  }, { [`${run}/rules/what-if`]: () => whatIf, [`${run}/stop`]: () => ({ message: 'asked' }) });
}

let element: HTMLElement;
beforeEach(() => {
  document.body.replaceChildren();
  element = document.createElement('div');
  document.body.append(element);
});

describe('the chart of evidence', () => {
  it('asks for the course of what a series can be of, and for nothing that a rule alone works out', async () => {
    const asked = async (quantity: string) => {
      const source = new GivenSource({});
      const { evidence } = verdictAt(7);
      const verdict = verdictAt(7, { evidence: [{ ...evidence[0]!, quantity }] });
      const charts = new EvidenceCharts(contextOf(source));
      expect(charts.show(rule('DeadRelu', 'IssuesFound', [verdict]), verdict)!.querySelector('svg')).not.toBeNull();
      await settled();
      return source.asked.length;
    };
    expect(await asked('abs_mean')).toBe(1);
    for (const quantity of ['dead_percent', 'update_ratio']) expect(await asked(quantity), quantity).toBe(0);
  });
});

describe('the board', () => {
  it('says how every rule stands, with a sign and a word', async () => {
    const context = contextOf(sourceOf([rule('A', 'NoIssuesFound'), rule('B', 'IssuesFound', [verdictAt(7)]), rule('C', 'NotApplicable')]));
    const view = mount(element, context, { step: null, params: {} });
    await settled();
    expect(element.querySelector('.rules-summary')!.textContent).toBe('3 rules: 1 fired, 1 found nothing, 1 nothing to judge.');
    const rows = [...element.querySelectorAll('.rules-board tbody tr')];
    expect(rows.map((row) => row.querySelector('td')!.textContent)).toEqual(['⚑ fired', '✓ found nothing', '– nothing to judge']);
    expect(rows[0]!.querySelector('svg')!.getAttribute('aria-label')).toBe('B: fired at step 7');
    expect(rows[0]!.getAttribute('aria-current')).toBe('true'); // the gravest is shown first
    expect(element.dataset['drawn']).toBe('1');
    rows[1]!.querySelector('a')!.click();
    expect(context.changes).toEqual([{ rule: 'A' }]);
    view.destroy();
  });

  it('shows evidence that leads to the tensor at its step, and no markup of others', async () => {
    const context = contextOf(sourceOf([rule('B', 'IssuesFound', [verdictAt(4), verdictAt(7)])]));
    mount(element, context, { step: 8, params: {} });
    await settled();
    expect(element.querySelector('[data-verdict]')!.getAttribute('data-verdict')).toBe('7');
    expect(element.querySelector('.rule-message')!.textContent).toBe('vanished at 7');
    const link = element.querySelector<HTMLAnchorElement>('[data-evidence] a')!;
    expect(link.textContent).toBe('<img src=x onerror="owned()">\\u{202e}');
    link.click();
    expect(context.opened).toEqual([{ view: 'tensors', params: { tensor: HOSTILE }, step: 7 }]);
    expect(element.querySelector('img')).toBeNull();
    const chart = element.querySelector('[data-chart] svg')!.getAttribute('aria-label')!;
    expect(chart).toContain('the threshold is 1e-7; fired at step 7');
    element.querySelectorAll<HTMLButtonElement>('.rule-verdicts button')[0]!.click();
    expect(context.sought).toEqual([4]);
  });

  it('shows a rule that has fired since', async () => {
    const rules = [rule('B', 'InProgress')];
    const source = sourceOf(rules);
    const context = contextOf(source);
    const state = { step: null, params: {} };
    const view = mount(element, context, state);
    await settled();
    expect(context.said).toEqual([]);
    rules[0] = rule('B', 'IssuesFound', [verdictAt(9)]);
    vi.useFakeTimers();
    for (let i = 0; i < 20; ++i) view.update(state); // news
    await vi.advanceTimersByTimeAsync(1500);
    vi.useRealTimers();
    await settled();
    expect(context.said).toEqual(['B fired at step 9: vanished at 9']);
    expect(source.asked.filter((address) => address.endsWith('/rules') && address.startsWith('/runs'))).toHaveLength(2);
    view.destroy();
  });

  it('lists events with what became of them, and black boxes as runs', async () => {
    mount(element, contextOf(sourceOf([])), { step: null, params: {} });
    await settled();
    expect(element.querySelector('[data-event]')!.textContent).toContain('ops (webhook): dead after 3 attempts');
    expect(element.querySelector('[aria-label="Black boxes"] a')!.getAttribute('href')).toBe('#/run/first%2Fblackbox%2Fstep-7?step=7');
    expect(element.textContent).toContain('No rule has judged this run.');
  });

  it('offers to act only where that is allowed, and asks first', async () => {
    const source = sourceOf([]);
    mount(element, contextOf(source), { step: null, params: {} });
    await settled();
    expect(element.querySelector('[data-actions]')).toBeNull();
    const other = document.createElement('div');
    document.body.append(other);
    const context = contextOf(source, true);
    mount(other, context, { step: null, params: {} });
    await settled();
    other.querySelector<HTMLButtonElement>('[data-actions] button')!.click();
    expect(source.posted).toEqual([]);
    const dialog = other.querySelector('dialog')!;
    expect(dialog.textContent).toContain('Stop this training?');
    dialog.querySelector<HTMLButtonElement>('button.primary')!.click();
    await settled();
    expect(source.posted).toEqual([{ path: '/runs/00000000000000aa/stop', body: { reason: 'somebody asked for it on the page' } }]);
    expect(context.said).toEqual(['asked']);
  });
});

describe('what if', () => {
  it('asks with what was given and what the link changes, and says both answers', async () => {
    const source = sourceOf([rule('B', 'IssuesFound', [verdictAt(7)])]);
    const context = contextOf(source);
    mount(element, context, { step: null, params: { 'if.threshold': '1e-5' } });
    await settled();
    expect(source.posted).toEqual([
      { path: '/runs/00000000000000aa/rules/what-if', body: { rule: 'VanishingGradient', now: { threshold: '1e-7' }, parameters: { threshold: '1e-5' } } },
    ]);
    const labels = [...element.querySelectorAll('.what-if-answer svg[aria-label]')].map((svg) => svg.getAttribute('aria-label'));
    expect(labels).toEqual(['Now: fires at step 7', 'Changed: fires at steps 4, 7']);
    expect(context.said[0]).toContain('changed, it fires at steps 4, 7');
    const field = element.querySelector<HTMLInputElement>('#what-if-threshold')!;
    expect(field.value).toBe('1e-5');
    field.value = '1e-7';
    field.dispatchEvent(new Event('change'));
    expect(context.changes).toEqual([{ 'if.threshold': undefined }]); // as it is now: no word in the link
  });

  it('sends no parameter that the rule does not declare, whoever wrote it', async () => {
    const hostile = rule('B', 'IssuesFound', [verdictAt(7)]);
    hostile.parameters = { ...hostile.parameters, rule_file: 'runs/r/evil.so' };
    const source = sourceOf([hostile]);
    const mounted = mount(element, contextOf(source), { step: null, params: { 'if.rule_file': '/tmp/evil.py' } });
    await settled();
    expect(source.posted).toEqual([]); // the link changes nothing that there is
    mounted.update({ step: null, params: { 'if.rule_file': '/tmp/evil.py', 'if.threshold': '1e-5' } });
    await settled();
    expect(source.posted).toEqual([
      { path: '/runs/00000000000000aa/rules/what-if', body: { rule: 'VanishingGradient', now: { threshold: '1e-7' }, parameters: { threshold: '1e-5' } } },
    ]);
  });

  it('judges what was written since when asked', async () => {
    const source = sourceOf([]);
    const view = mount(element, contextOf(source), { step: null, params: { rule: 'VanishingGradient' } });
    await settled();
    expect(element.querySelector('.what-if-answer')!.parentElement!.querySelector('button')).toBeNull();
    source.answers['/runs/00000000000000aa/steps'] = { steps: [[0, 1, 40]] };
    vi.useFakeTimers();
    view.update({ step: null, params: { rule: 'VanishingGradient' } });
    await vi.advanceTimersByTimeAsync(1500);
    vi.useRealTimers();
    await settled();
    expect(source.posted).toHaveLength(1);
    const button = element.querySelector('.what-if-answer')!.parentElement!.querySelector('button')!;
    expect(button.textContent).toBe('Judge up to step 39');
    button.click();
    await settled();
    expect(source.posted).toHaveLength(2);
    view.destroy();
  });

  it('does not ask while nothing is changed', async () => {
    const source = sourceOf([rule('B', 'IssuesFound', [verdictAt(7)])]);
    mount(element, contextOf(source), { step: null, params: {} });
    await settled();
    expect(source.posted).toEqual([]);
  });

  it('tries a rule that has not judged the run', async () => {
    const source = sourceOf([]);
    mount(element, contextOf(source), { step: null, params: { rule: 'VanishingGradient' } });
    await settled();
    expect(source.posted[0]!.body).toEqual({ rule: 'VanishingGradient', now: {}, parameters: {} });
  });

  it('asks one question at a time, and a busy server again', async () => {
    let busy = 2;
    const source = new GivenSource({}, { '/runs/r/rules/what-if': (body: { rule: string }) => {
      if (busy-- > 0) throw new SourceError('unavailable', 'busy');
      return { ...whatIf, rule: body.rule };
    } });
    const answers: string[] = [];
    const asker = new WhatIfAsker(source, 'r', (_, answer) => answers.push(answer instanceof SourceError ? answer.code : answer.rule), async () => undefined);
    for (const name of ['A', 'B', 'C']) asker.ask({ rule: name, now: {}, parameters: {} });
    await settled();
    expect(answers).toEqual(['C']); // B was overtaken before it was asked
    expect(source.posted.map(({ body }) => (body as { rule: string }).rule)).toEqual(['A', 'A', 'A', 'C']);
  });
});

describe('parameters', () => {
  it('turn within three decades when they are positive, as wholes when they are whole', () => {
    const small = knobOf('1e-7');
    expect(small).toMatchObject({ kind: 'number', logarithmic: true });
    expect(valueAt(small, '1e-7', 2)).toBe('0.00001');
    expect(valueAt(small, '1e-7', 0)).toBe('1e-7');
    expect(placeOf(small, '1e-7', '1e-5')).toBeCloseTo(2);
    expect(placeOf(small, '1e-7', '0')).toBe(-3);
    const whole = knobOf('10');
    expect(valueAt(whole, '10', 17.4)).toBe('17');
    expect(knobOf('0')).toMatchObject({ lowest: 0, highest: 1 });
    expect(knobOf('True')).toEqual({ kind: 'switch' });
    expect(knobOf('gradients')).toEqual({ kind: 'text' });
    expect(knobOf('')).toEqual({ kind: 'text' });
  });
});

describe('pictures', () => {
  it('keep a mark of each kind where there are many', () => {
    const marks = Array.from({ length: 5000 }, (_, step) => ({ step, lastStep: step, severity: step % 2 === 0 ? 'info' : 'error' }));
    const svg = strip({ first: 0, last: 4999 }, marks, 'many', 12);
    expect(svg.querySelectorAll('.mark').length).toBeLessThan(700);
    expect(svg.querySelector('.cursor')).not.toBeNull();
  });

  it('interrupt the line where a number is not finite', () => {
    const course = { steps: [0, 1, 2, 3], values: [1, NaN, 2, 3] };
    const scale = scaleOf([1, 2, 3], 100, 0);
    expect(lineOf(course, (step) => step, scale).match(/M/g)).toHaveLength(2);
    expect(scaleOf([1e-9, 1], 100, 0).logarithmic).toBe(true);
    const question = { title: 'w', course, threshold: 2.5, firedAt: 3, quantity: 'max', value: 3 };
    expect(chartInWords(question)).toBe('max of w lies between 1 and 3 over 4 points; the threshold is 2.5; fired at step 3 with 3.');
    expect(evidenceChart(question).querySelector('.threshold')).not.toBeNull();
  });

  it('draws no line for a course that is being read', () => {
    const question = { title: 'w', course: { steps: [], values: [] }, threshold: 2.5, firedAt: 3, quantity: 'max', value: 3, reading: true };
    const chart = evidenceChart(question);
    expect(chart.querySelector('.value')!.getAttribute('d')).toBe('');
    expect(chart.textContent).toContain('reading the course …');
    expect(chartInWords(question)).toBe('max of w is being read; the threshold is 2.5; fired at step 3 with 3.');
  });
});

it('shows a verdict on a window of time with its time, not with a step', () => {
  const end = 1_700_000_003e9;
  const hot = verdictAt(-1, {
    from_unix_ns: end - 1e9, to_unix_ns: end, message: 'it is hot',
    evidence: [{ tensor: '', tensor_id: '', quantity: 'mean', value: 90, threshold: 80, step: -1, metric: 'temperature', unix_ns: end - 5 }],
  });
  const element = verdictPart(contextOf(sourceOf([])), rule('Hot', 'IssuesFound', [hot]), hot);
  expect(element.textContent).toContain(new Date(end / 1e6).toLocaleString());
  expect(element.textContent).toContain('temperature');
  expect(element.textContent).not.toContain('step');
  expect(element.textContent).not.toContain('-1');
  expect(verdictPart(contextOf(sourceOf([])), rule('Hot', 'IssuesFound', [hot]), { ...hot, step: 7 }).textContent).toContain('after step 7');
});

it('chooses the gravest rule, and the newest verdict before the cursor', () => {
  const rules = [rule('A', 'NoIssuesFound'), rule('B', 'IssuesFound', [verdictAt(9)]), rule('C', 'IssuesFound', [verdictAt(3), verdictAt(6)])];
  expect(chosenRule(rules, undefined)!.id).toBe('C');
  expect(chosenRule(rules, 'A')!.id).toBe('A');
  expect(chosenRule(rules, 'Z')).toBeUndefined();
  expect([null, 2, 3, 5, 99].map((step) => chosenVerdict(rules[2]!, step)!.step)).toEqual([3, 3, 3, 3, 6]);
});

it('says things in words', () => {
  expect(summaryOf([])).toBe('No rule has judged this run.');
  expect(stepsInWords([1, 2, 3], 30, 2)).toBe('at steps 1, 2 and 28 more');
  expect(stepsInWords([])).toBe('at no step');
  expect(prose('Fires when `x < 1`.\nNow.\n\n- one\n- two').innerHTML).toBe('<p>Fires when <code>x &lt; 1</code>. Now.</p><ul><li>one</li><li>two</li></ul>');
});
