import { expect, it } from 'vitest';

import { byStepOrder, knownPhases, phaseColour, phaseWords } from './phase_colours';

it('of phases are never told by hue alone', () => {
  const looks = knownPhases.map((phase) => JSON.stringify(phaseColour(phase)));
  expect(new Set(looks).size).toBe(knownPhases.length);
  expect(phaseColour('data_start').light).toBe(phaseColour('data_wait').light);
  expect(phaseColour('data_start').hatched).toBe(true);
});

it('stand in the order of a step, unknown ones last', () => {
  expect(['zeal', 'rest', 'backward', 'forward', 'data_wait', 'alpha'].sort(byStepOrder)).toEqual(['data_wait', 'forward', 'backward', 'rest', 'alpha', 'zeal']);
  expect(phaseWords('gradient_sync')).toBe('gradient sync');
  expect(phaseWords('my_phase')).toBe('my phase');
});
