// How a severity and an answer are shown: a sign and a word each, colour beside them.

import { RULE_STATES, type Sign, stateSign } from '../rule_states';

const SEVERITIES: Record<string, Sign> = {
  error: { sign: '✖', word: 'error', tone: 'bad' },
  warning: { sign: '▲', word: 'warning', tone: 'warn' },
  info: { sign: '●', word: 'note', tone: 'muted' },
};

export function severitySign(severity: string): Sign {
  return SEVERITIES[severity] ?? { sign: '?', word: severity, tone: 'muted' };
}

/** "3 rules: 1 fired, 2 found nothing". */
export function summaryOf(states: readonly string[]): string {
  if (states.length === 0) return 'No rule has judged this run.';
  const counts = new Map<string, number>();
  for (const state of Object.keys(RULE_STATES)) counts.set(stateSign(state).word, 0);
  for (const state of states) counts.set(stateSign(state).word, (counts.get(stateSign(state).word) ?? 0) + 1);
  const parts = [...counts].filter(([, number]) => number > 0).map(([word, number]) => `${number} ${word}`);
  return `${states.length} ${states.length === 1 ? 'rule' : 'rules'}: ${parts.join(', ')}.`;
}

/** Steps for a sentence: at most `most`, then how many more. */
export function stepsInWords(steps: readonly number[], total = steps.length, most = 8): string {
  const some = steps.slice(0, most).join(', ');
  if (total === 0) return 'at no step';
  const more = total - Math.min(steps.length, most);
  return `at ${total === 1 ? 'step' : 'steps'} ${some}${more > 0 ? ` and ${more} more` : ''}`;
}
