// The state of a rule as all views name it: a sign and a word, colour beside them.

export interface Sign {
  sign: string;
  word: string;
  /** A class of the page: good, warn, bad, muted. */
  tone: 'good' | 'warn' | 'bad' | 'muted';
}

/** In the order in which a summary counts them. */
export const RULE_STATES: Readonly<Record<string, Sign>> = {
  InProgress: { sign: '▶', word: 'watching', tone: 'muted' },
  IssuesFound: { sign: '⚑', word: 'fired', tone: 'bad' },
  NoIssuesFound: { sign: '✓', word: 'found nothing', tone: 'good' },
  NotApplicable: { sign: '–', word: 'nothing to judge', tone: 'muted' },
  Stopping: { sign: '◧', word: 'stopping', tone: 'muted' },
  Stopped: { sign: '■', word: 'stopped', tone: 'muted' },
  Error: { sign: '!', word: 'failed', tone: 'warn' },
};

export function stateSign(state: string): Sign {
  return RULE_STATES[state] ?? { sign: '?', word: state, tone: 'muted' };
}
