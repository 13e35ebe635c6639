// Colours of the phases of a step. Those that belong together (a phase and its small neighbour) share a hue, and the
// smaller one is hatched: nothing is told by hue alone.

export interface PhaseColour {
  light: string;
  dark: string;
  hatched: boolean;
}

// From Okabe and Ito's, as the categories of colours.ts; waiting is warm, computing is blue and green, the rest is grey.
const HUES = {
  wait: ['#b04a00', '#f0843c'],
  forward: ['#0072b2', '#4fb0ea'],
  backward: ['#00795a', '#1fbf92'],
  sync: ['#a8487f', '#dd8fbd'],
  optimizer: ['#8a6a00', '#e6a817'],
  evaluation: ['#5c55a5', '#a8a2ee'],
  checkpoint: ['#4d4d4d', '#c4c4c4'],
  rest: ['#84909c', '#6f8092'],
} as const;

// In the order in which a step goes, which is the order in which they are stacked.
const PHASES: readonly (readonly [phase: string, words: string, hue: keyof typeof HUES, hatched: boolean])[] = [
  ['data_wait', 'data wait', 'wait', false],
  ['data_start', 'data start', 'wait', true],
  ['forward', 'forward', 'forward', false],
  ['loss', 'loss', 'forward', true],
  ['backward', 'backward', 'backward', false],
  ['clip', 'clip', 'backward', true],
  ['gradient_sync', 'gradient sync', 'sync', false],
  ['optimizer', 'optimizer', 'optimizer', false],
  ['zero_grad', 'zero grad', 'optimizer', true],
  ['evaluation', 'evaluation', 'evaluation', false],
  ['checkpoint', 'checkpoint', 'checkpoint', false],
  ['capture', 'capture', 'rest', true],
  ['rest', 'rest', 'rest', false],
];

const PLACES = new Map(PHASES.map(([phase], place) => [phase, place]));

/** The order of a step; phases of others come last, by name. */
export function byStepOrder(a: string, b: string): number {
  const [at, bt] = [PLACES.get(a) ?? PHASES.length, PLACES.get(b) ?? PHASES.length];
  return at - bt || (a < b ? -1 : a > b ? 1 : 0);
}

export function phaseWords(phase: string): string {
  return PHASES[PLACES.get(phase) ?? -1]?.[1] ?? phase.replaceAll('_', ' ');
}

export function phaseColour(phase: string): PhaseColour {
  const [, , hue, hatched] = PHASES[PLACES.get(phase) ?? -1] ?? [phase, phase, 'sync' as const, true];
  const [light, dark] = HUES[hue];
  return { light, dark, hatched };
}

export const knownPhases: readonly string[] = PHASES.map(([phase]) => phase);
