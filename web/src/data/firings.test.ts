import { expect, it } from 'vitest';

import { firingsIn, type RuleAnswer, type VerdictAnswer } from './firings';

function verdict(step: number, outcome = 'fired'): VerdictAnswer {
  return {
    id: 'A', rule: 'A', step, mode: 'train', mode_step: step, outcome, severity: 'warning', confidence: 1,
    message: `at ${step}`, advice: '', evidence: [],
  };
}

function rule(id: string, verdicts: VerdictAnswer[], repeats: RuleAnswer['repeats'] = []): RuleAnswer {
  return {
    id, rule: id, parameters: {}, state: 'IssuesFound', details: '', severity: 'warning', fired: verdicts.length,
    first_fired_step: 0, last_fired_step: 0, steps: {}, modified_unix_ns: 0, journal: 'watch-0', builtin: true,
    transitions: [], verdict_count: verdicts.length, verdicts, repeats,
  };
}

it('come in the order of steps, with how long they lasted', () => {
  const firings = firingsIn({
    rules: [
      rule('A', [verdict(7), verdict(30)], [{ outcome: 'fired', first_step: 7, last_step: 12, count: 5 }]),
      rule('B', [verdict(3), verdict(9, 'error')]),
    ],
  });
  expect(firings.map(({ step, lastStep, rule: id }) => [step, lastStep, id])).toEqual([
    [3, 3, 'B'],
    [7, 12, 'A'],
    [30, 30, 'A'],
  ]);
});
