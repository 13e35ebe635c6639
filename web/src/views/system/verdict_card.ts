// The verdict: one sentence, what to do next, and what that gains. It comes before everything else.
import { h, s, type Child } from '../../draw/dom';
import type { ViewContext } from '../view';
import type { Gain, ProfileAnswer } from './api';
import { percent, times } from './words';

/** A gain whose numbers are all known. */
type KnownGain = { [name in keyof Gain]: number };

/** Null where nothing is gained, or nothing is known. Bounds that are not known are the expectation itself. */
export function knownGain(gain: Gain | null): KnownGain | null {
  if (gain === null || gain.expected === null || !(gain.expected > 1)) return null;
  return { expected: gain.expected, min: gain.min ?? gain.expected, max: gain.max ?? gain.expected };
}

/** "1.9 × as fast (between 1.6 × and 2.5 ×)". */
export function gainInWords(gain: KnownGain): string {
  const range = gain.min === gain.max ? '' : ` (between ${times(gain.min)} and ${times(gain.max)})`;
  return `${times(gain.expected)} as fast${range}`;
}

/** What a step takes now and after: two bars, the second with its bounds. */
function gainPicture(gain: KnownGain): SVGSVGElement {
  const width = (ratio: number) => `${Math.min(100, 100 / Math.max(1, ratio)).toFixed(1)}%`;
  const row = (y: number, ratio: number, tone: string) => s('rect', { x: 0, y, width: width(ratio), height: 12, rx: 2, class: tone });
  return s('svg', { class: 'gain', width: '100%', height: 36, role: 'img', 'aria-label': `A step now, and one that takes 1/${gain.expected.toFixed(2)} of the time` },
    row(2, 1, 'now'), row(20, gain.expected, 'then'),
    s('line', { x1: width(gain.max), x2: width(gain.min), y1: 26, y2: 26, class: 'bounds' }));
}

export function ruleLink(context: ViewContext, rule: string, text = rule): HTMLElement {
  const params = { rule };
  return h('a', { href: context.link('rules', params) ?? '#', onclick: (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    context.open('rules', params);
  } }, text);
}

const HEADS: Record<string, string> = { finding: 'What slows this training down', nothing_found: 'Nothing slows this training down', not_enough_data: 'Not enough is known' };
const SIGNS: Record<string, [sign: string, tone: string]> = { finding: ['⚑', 'warn'], nothing_found: ['✓', 'good'], not_enough_data: ['…', 'muted'] };

/** What stands between backquotes is a command. */
function codeIn(text: string): Child[] {
  return text.split(/(`[^`]+`)/).map((part) => (/^`[^`]+`$/.test(part) ? h('code', {}, part.slice(1, -1)) : part));
}

export function verdictCard(answer: ProfileAnswer, context: ViewContext): HTMLElement {
  const { verdict } = answer;
  const [sign, tone] = SIGNS[verdict.kind] ?? ['?', 'muted'];
  const gain = knownGain(verdict.gain);
  return h('section', { class: `panel verdict ${verdict.kind}`, 'aria-label': 'Verdict', 'data-verdict': verdict.kind },
    h('div', {},
      h('p', { class: 'verdict-head' }, h('span', { class: tone, 'aria-hidden': 'true' }, `${sign} `), HEADS[verdict.kind] ?? verdict.kind),
      h('p', { class: 'verdict-text' }, ...codeIn(verdict.text)),
      verdict.advice && h('p', { class: 'verdict-advice' }, h('b', {}, 'Next: '), verdict.advice),
      verdict.rule && h('p', { class: 'muted' }, 'Found by ', ruleLink(context, verdict.rule), '.')),
    gain || verdict.step_share !== null ? gainPart(gain, verdict.step_share) : undefined);
}

function gainPart(gain: KnownGain | null, share: number | null): HTMLElement {
  const lines: Child[] = [];
  if (gain) lines.push(h('p', { class: 'big' }, times(gain.expected), h('span', { class: 'muted' }, ' as fast')), h('p', { class: 'muted' }, gain.min === gain.max ? 'predicted' : `predicted, between ${times(gain.min)} and ${times(gain.max)}`));
  if (share !== null) lines.push(h('p', {}, h('b', {}, percent(share)), ' of the step is lost to it'));
  return h('div', { class: 'verdict-gain' }, ...lines, gain && gainPicture(gain));
}
